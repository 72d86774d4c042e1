import { RateLimitedError } from '../../core/errors.ts';
import type { EventSession, EventSessions } from '../../core/ports/event-sessions.ts';
import type { MetricsSink } from '../../core/ports/observability.ts';

/** Pools of sessions: those of readers, and those of creations that stream their events. */
export const eventPools = ['all', 'creations'] as const;
type EventPool = (typeof eventPools)[number];

type Deps = {
  sessions: EventSessions;
  /** Returns sessions with another limit, to count those of all callers in shards. */
  withLimit: (perShard: number) => EventSessions;
  /** Maximum sessions of all callers together. */
  max: number;
  /** Functions with the same pool share its sessions. */
  pool: EventPool;
  measurements: MetricsSink;
  random: () => number;
};

/** Maximum sessions that share one item: each renews its permit every 30 s. */
const maxPerShard = 25;

/**
 * Bounds the event streams of a deployment: on Lambda, each is an execution for up to 14 minutes, also if its reader
 * has left. All callers share `max` sessions, whose permits are spread over items that no caller name can have. Throws
 * `RateLimitedError` at the limit.
 */
export function limitEventSessions({
  sessions,
  withLimit,
  max,
  pool,
  measurements,
  random,
}: Deps): EventSessions {
  const count = countShards(max);
  const shards = withLimit(Math.ceil(max / count));
  return {
    perCaller: sessions.perCaller,
    open: async (caller, reader) => {
      const session = await sessions.open(caller, reader);
      if (!session) return undefined;
      const shared = await openShared().catch(async (error: unknown) => {
        await session.end();
        throw error;
      });
      if (!shared) {
        await session.end();
        throw new RateLimitedError(
          `This deployment has its maximum of ${max} open event streams. Try again in ${retrySeconds} s, or read GET /jobs/{job_id}/events as JSON.`,
          retrySeconds,
        );
      }
      measurements.add('EventStreams');
      return join(session, shared);
    },
  };

  /** Tries all shards, in an order that starts at a random one. */
  async function openShared(): Promise<EventSession | undefined> {
    const first = Math.floor(random() * count);
    for (let tried = 0; tried < count; tried += 1) {
      const session = await shards.open(shardName(pool, (first + tried) % count));
      if (session) return session;
    }
    return undefined;
  }
}

/** Returns the number of open event streams of a deployment, of both pools, with `count` for each shard. */
export async function countOpenSessions(
  max: number,
  count: (name: string) => Promise<number>,
): Promise<number> {
  const shards = await Promise.all(
    eventPools.flatMap((pool) =>
      Array.from({ length: countShards(max) }, (_, shard) => count(shardName(pool, shard))),
    ),
  );
  return shards.reduce((sum, open) => sum + open, 0);
}

function countShards(max: number): number {
  return Math.ceil(max / maxPerShard);
}

function shardName(pool: EventPool, shard: number): string {
  return `#${pool}-${shard}`;
}

const retrySeconds = 30;

function join(session: EventSession, shared: EventSession): EventSession {
  const end = async (): Promise<void> => {
    await Promise.all([session.end(), shared.end()]);
  };
  // An evicted session frees its place for all callers too.
  session.signal.addEventListener('abort', () => void shared.end());
  return {
    signal: AbortSignal.any([session.signal, shared.signal]),
    attachJob: (jobId) => session.attachJob(jobId),
    end,
  };
}
