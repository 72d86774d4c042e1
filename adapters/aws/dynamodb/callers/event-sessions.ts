import { z } from 'zod';
import type {
  EventSession,
  EventSessions,
  EventStreamReader,
} from '../../../../core/ports/event-sessions.ts';
import type { SetTimer } from '../../../../core/time-limit.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { itemKeys } from '../table/keys.ts';
import {
  countPermits,
  unexpiredPermits,
  permitsSchema,
  withoutPermit,
  type Permits,
} from './call-limiter.ts';
import { optimisticUpdate, type ItemUpdate } from '../table/optimistic-update.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';

type Deps = {
  table: Table;
  backoff: BackoffDeps;
  now: () => Date;
  newId: () => string;
  setTimer: SetTimer;
  perCaller: number;
};

/** Lifetime of a permit, in milliseconds. A permit that is not renewed belongs to a crashed function. */
const heldMs = 90_000;
/** Renewal interval, in milliseconds. Two consecutive renewals may fail. */
const renewalMs = 30_000;

export async function countEventSessions(
  { table, now }: Pick<Deps, 'table' | 'now'>,
  caller: string,
): Promise<number> {
  const item = await table.get(itemKeys.eventSessions(caller));
  const { open } = readItem(sessionsSchema, item ?? {});
  return countPermits(unexpiredPermits(open, now().getTime(), heldMs));
}

/**
 * Event-stream sessions of all instances, one item per caller. A session that loses its permit aborts. Lambda does
 * not report a reader's disconnect, so a reconnecting reader takes over the permit of its old stream.
 */
export function createEventSessions({ perCaller, newId, setTimer, ...c }: Deps): EventSessions {
  return {
    perCaller,
    open: async (caller, reader) => {
      const permit = permitName(reader?.jobId, newId());
      const isOpen = await change(caller, (held) => {
        const left = countPermits(held) < perCaller ? held : withoutForgotten(held, reader);
        if (countPermits(left) >= perCaller) return { answer: false };
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
      attachJob: (jobId) => {
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
        return { answer: true, state: { open: { ...withoutPermit(held, permit), [renamed]: heldUntil() } } };
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

  function change<Answer>(caller: string, decide: (held: Permits) => ItemUpdate<Sessions, Answer>) {
    return optimisticUpdate(c, itemKeys.eventSessions(caller), sessionsSchema, ({ open }) =>
      decide(unexpiredPermits(open, c.now().getTime(), heldMs)),
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

function withoutForgotten(held: Permits, reader: EventStreamReader | undefined): Permits {
  if (!reader?.isReconnect) return held;
  const [oldest] = Object.keys(held)
    .filter((permit) => permit.startsWith(`${reader.jobId}/`))
    .toSorted();
  return oldest === undefined ? held : withoutPermit(held, oldest);
}

/** Removes both names: a renewal that writes the new one may be running. */
function freed(held: Permits, permit: string, next: string): ItemUpdate<Sessions, undefined> {
  return { answer: undefined, state: { open: withoutPermit(withoutPermit(held, permit), next) } };
}

/** Ignores failures: a permit that is not renewed or released expires. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

const sessionsSchema = z.object({ open: permitsSchema.default({}) });
type Sessions = z.infer<typeof sessionsSchema>;
