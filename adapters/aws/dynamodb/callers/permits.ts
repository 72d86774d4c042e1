import { z } from 'zod';
import { callWindowMs, findRefusal, type CallLimits } from '../../../../core/access/call-admission.ts';
import type { Admission, CallLimiter } from '../../../../core/ports/callers.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { itemKeys } from '../table/keys.ts';
import { optimisticUpdate, type ItemUpdate } from '../table/retries.ts';
import type { Table } from '../table/table.ts';
import type {
  EventSession,
  EventSessions,
  EventStreamReader,
} from '../../../../core/ports/event-sessions.ts';
import type { SetTimer } from '../../../../core/time-limit.ts';
import { readItem } from '../table/record.ts';

/** Permit holders with expiry (epoch ms). Permits expire so that a crashed holder cannot leak one. */
const permitsSchema = z.record(z.string(), z.int());
/** Permit holders with expiry. */
type Permits = z.infer<typeof permitsSchema>;

/**
 * Returns the unexpired permits. Drops permits too far in the future, which were written before a clock was set
 * back and would block the caller.
 */
function unexpiredPermits(places: Permits, nowMs: number, heldMs: number): Permits {
  return Object.fromEntries(
    Object.entries(places).filter(([, untilMs]) => untilMs > nowMs && untilMs <= nowMs + 2 * heldMs),
  );
}

function countPermits(places: Permits): number {
  return Object.keys(places).length;
}

function withoutPermit({ ...places }: Permits, holder: string): Permits {
  delete places[holder];
  return places;
}

type LimiterDeps = CallLimits & { table: Table; backoff: BackoffDeps; now: () => Date; newId: () => string };

/**
 * Lifetime of a permit, in milliseconds: three times the maximum duration of a capture and a model call. A permit
 * that is still held then belongs to a crashed function.
 */
const callHeldMs = 360_000;

/**
 * Creates a limiter that all functions share: one item per caller with the start times of the last minute and the
 * permits of running calls. Entries expire, so a crashed function does not block its caller for long.
 */
export function createCallLimiter({ perMinute, atOnce, newId, ...c }: LimiterDeps): CallLimiter {
  return {
    admit: async (caller) => {
      if (perMinute === 0 && atOnce === 0) return { kind: 'admitted', release: async () => undefined };
      const call = newId();
      const refused = await optimisticUpdate(c, itemKeys.calls(caller), useSchema, (use) =>
        admitted(current(use, c.now().getTime()), call),
      );
      return refused ?? { kind: 'admitted', release: releaseOnce(caller, call) };
    },
  };

  function admitted(use: Use, call: string): ItemUpdate<Use, Refusal | undefined> {
    const nowMs = c.now().getTime();
    const refused = findRefusal(
      { beganMs: use.began_ms, running: countPermits(use.under_way) },
      { perMinute, atOnce },
      nowMs,
    );
    if (refused) return { answer: refused };
    return {
      answer: undefined,
      state: {
        began_ms: perMinute > 0 ? [...use.began_ms, nowMs] : [],
        under_way: atOnce > 0 ? { ...use.under_way, [call]: nowMs + callHeldMs } : {},
      },
    };
  }

  /** Releases the permit once. A failure must not lose the response; an unreleased permit expires. */
  function releaseOnce(caller: string, call: string): () => Promise<void> {
    let released = atOnce === 0;
    return async () => {
      if (released) return;
      released = true;
      await optimisticUpdate(c, itemKeys.calls(caller), useSchema, (use) => ({
        answer: undefined,
        state: { ...use, under_way: withoutPermit(use.under_way, call) },
      })).catch(() => undefined);
    };
  }
}

type Refusal = Extract<Admission, { kind: 'refused' }>;

const useSchema = z.object({
  /** Start times of the calls in the last minute, oldest first. */
  began_ms: z.array(z.int()).default([]),
  under_way: permitsSchema.default({}),
});
type Use = z.infer<typeof useSchema>;

/**
 * Drops expired entries. Also drops entries from the future beyond the usual clock difference: they were written
 * before a clock was set back.
 */
function current(use: Use, nowMs: number): Use {
  const began_ms = use.began_ms.filter(
    (began) => began > nowMs - callWindowMs && began <= nowMs + callWindowMs,
  );
  return {
    began_ms: began_ms.toSorted((one, other) => one - other),
    under_way: unexpiredPermits(use.under_way, nowMs, callHeldMs),
  };
}

type SessionDeps = {
  table: Table;
  backoff: BackoffDeps;
  now: () => Date;
  newId: () => string;
  setTimer: SetTimer;
  perCaller: number;
};

/** Lifetime of a permit, in milliseconds. A permit that is not renewed belongs to a crashed function. */
const sessionHeldMs = 90_000;
/** Renewal interval, in milliseconds. Two consecutive renewals may fail. */
const renewalMs = 30_000;

export async function countEventSessions(
  { table, now }: Pick<SessionDeps, 'table' | 'now'>,
  caller: string,
): Promise<number> {
  const item = await table.get(itemKeys.eventSessions(caller));
  const { open } = readItem(sessionsSchema, item ?? {});
  return countPermits(unexpiredPermits(open, now().getTime(), sessionHeldMs));
}

/**
 * Event-stream sessions of all instances, one item per caller. A session that loses its permit aborts. Lambda does
 * not report a reader's disconnect, so a reconnecting reader takes over the permit of its old stream.
 */
export function createEventSessions({ perCaller, newId, setTimer, ...c }: SessionDeps): EventSessions {
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
      decide(unexpiredPermits(open, c.now().getTime(), sessionHeldMs)),
    );
  }

  function permitName(jobId: string | undefined, id: string): string {
    return ofJob(jobId ?? '', `/${c.now().toISOString()}/${id}`);
  }

  function heldUntil(): number {
    return c.now().getTime() + sessionHeldMs;
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
