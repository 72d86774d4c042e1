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
  backoff: Patience;
  now: () => Date;
  newId: () => string;
  setTimer: SetTimer;
  perCaller: number;
};

/** Lifetime of a permit, in milliseconds. A permit that is not renewed belongs to a crashed function. */
const heldMs = 90_000;
/** Renewal interval, in milliseconds. Two consecutive renewals may fail. */
const renewalMs = 30_000;

/**
 * Event-stream sessions of all instances, one item per caller. A session that loses its permit aborts. Lambda does
 * not report a reader's disconnect, so a reconnecting reader takes over the permit of its old stream.
 */
export function createEventSessions({ perCaller, newId, setTimer, ...c }: Needs): EventSessions {
  return {
    perCaller,
    open: async (caller, reader) => {
      const permit = permitName(reader?.jobId, newId());
      const isOpen = await change(caller, (held) => {
        const left = countOf(held) < perCaller ? held : withoutForgotten(held, reader);
        if (countOf(left) >= perCaller) return { answer: false };
        return { answer: true, state: { open: { ...left, [permit]: heldUntil() } } };
      });
      return isOpen ? createSession(caller, permit) : undefined;
    },
  };

  function createSession(caller: string, opened: string): EventSession {
    const controller = new AbortController();
    let permit = opened;
    let next = opened;
    let cancelRenewal = setTimer(renew, renewalMs);
    return {
      signal: controller.signal,
      // Stored with the next renewal.
      reads: (jobId) => {
        next = ofJob(jobId, permit);
      },
      end: async () => {
        if (over()) await quietly(change(caller, (held) => freed(held, permit, next)));
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
        if (!(permit in held)) return { answer: false };
        return { answer: true, state: { open: { ...withoutPlace(held, permit), [renamed]: heldUntil() } } };
      });
      if (isKept) permit = renamed;
      else over();
    }

    /** Ends the session. Returns false if it has already ended. */
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

  function permitName(jobId: string | undefined, id: string): string {
    return ofJob(jobId ?? '', `/${c.now().toISOString()}/${id}`);
  }

  function heldUntil(): number {
    return c.now().getTime() + heldMs;
  }
}

/** Permit name: `<job id>/<time of opening>/<id>`, so that the permits of a job sort by age. */
function ofJob(jobId: string, permit: string): string {
  return `${jobId}${permit.slice(permit.indexOf('/'))}`;
}

function withoutForgotten(held: Places, reader: Reader | undefined): Places {
  if (!reader?.returns) return held;
  const [oldest] = Object.keys(held)
    .filter((permit) => permit.startsWith(`${reader.jobId}/`))
    .toSorted();
  return oldest === undefined ? held : withoutPlace(held, oldest);
}

/** Removes both names: a renewal that writes the new one may be running. */
function freed(held: Places, permit: string, next: string): Revision<Sessions, undefined> {
  return { answer: undefined, state: { open: withoutPlace(withoutPlace(held, permit), next) } };
}

/** Ignores failures: a permit that is not renewed or released expires. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

const sessionsSchema = z.object({ open: placesSchema.default({}) });
type Sessions = z.infer<typeof sessionsSchema>;
