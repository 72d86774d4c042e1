import { z } from 'zod';
import type { EventSession, EventSessions, Reader } from '../../../core/ports/event-sessions.ts';
import type { SetTimer } from '../../embedded/timer.ts';
import type { Patience } from './jitter.ts';
import { keyOf } from './keys.ts';
import { countOf, heldPlaces, placesSchema, withoutPlace, type Places } from './places.ts';
import { revise, type Revision } from './revise.ts';
import type { Table } from './table.ts';

type Needs = {
  table: Table;
  patience: Patience;
  now: () => Date;
  newId: () => string;
  setTimer: SetTimer;
  perCaller: number;
};

/** A place that nobody renews is free after this: the function of that stream crashed. */
const heldMs = 90_000;
/** Two renewals may fail. */
const renewalMs = 30_000;

/**
 * Sessions of all functions, counted in an item a caller. Each renews its place while it is open, and ends when it finds it taken: Lambda does not tell a
 * function that its reader has left, so a reader that comes back takes the place of its own forgotten stream.
 */
export function createEventSessions({ perCaller, newId, setTimer, ...c }: Needs): EventSessions {
  return {
    perCaller,
    open: async (caller, reader) => {
      const place = placeName(reader?.jobId, newId());
      const isOpen = await change(caller, (held) => {
        const left = countOf(held) < perCaller ? held : withoutForgotten(held, reader);
        if (countOf(left) >= perCaller) return { answer: false };
        return { answer: true, state: { open: { ...left, [place]: heldUntil() } } };
      });
      return isOpen ? sessionOf(caller, place) : undefined;
    },
  };

  function sessionOf(caller: string, opened: string): EventSession {
    const controller = new AbortController();
    let place = opened;
    let next = opened;
    let cancelRenewal = setTimer(renew, renewalMs);
    return {
      signal: controller.signal,
      // Written with the next renewal.
      reads: (jobId) => {
        next = ofJob(jobId, place);
      },
      end: async () => {
        if (over()) await quietly(change(caller, (held) => freed(held, place, next)));
      },
    };

    function renew(): void {
      cancelRenewal = setTimer(renew, renewalMs);
      void quietly(keep());
    }

    async function keep(): Promise<void> {
      const renamed = next;
      const isKept = await change(caller, (held) => {
        if (controller.signal.aborted) return { answer: true };
        if (!(place in held)) return { answer: false };
        return { answer: true, state: { open: { ...withoutPlace(held, place), [renamed]: heldUntil() } } };
      });
      if (isKept) place = renamed;
      else over();
    }

    /** Whether it was not over before. */
    function over(): boolean {
      cancelRenewal();
      if (controller.signal.aborted) return false;
      controller.abort();
      return true;
    }
  }

  function change<Answer>(caller: string, decide: (held: Places) => Revision<Sessions, Answer>) {
    return revise(c, keyOf.eventSessions(caller), sessionsSchema, ({ open }) =>
      decide(heldPlaces(open, c.now().getTime(), heldMs)),
    );
  }

  function placeName(jobId: string | undefined, id: string): string {
    return ofJob(jobId ?? '', `/${c.now().toISOString()}/${id}`);
  }

  function heldUntil(): number {
    return c.now().getTime() + heldMs;
  }
}

/** A place is named `<job id>/<when it was opened>/<id>`, so that those of a job sort by their age. */
function ofJob(jobId: string, place: string): string {
  return `${jobId}${place.slice(place.indexOf('/'))}`;
}

function withoutForgotten(held: Places, reader: Reader | undefined): Places {
  if (!reader?.returns) return held;
  const [oldest] = Object.keys(held)
    .filter((place) => place.startsWith(`${reader.jobId}/`))
    .toSorted();
  return oldest === undefined ? held : withoutPlace(held, oldest);
}

/** By both names: a renewal that writes the new one may be under way. */
function freed(held: Places, place: string, next: string): Revision<Sessions, undefined> {
  return { answer: undefined, state: { open: withoutPlace(withoutPlace(held, place), next) } };
}

/** A place that is not renewed or given back ends by itself, so nothing fails for it. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

const sessionsSchema = z.object({ open: placesSchema.default({}) });
type Sessions = z.infer<typeof sessionsSchema>;
