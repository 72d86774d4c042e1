import type { CoreDeps } from '../dependencies.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { MediaUse } from '../ports/observability.ts';
import type { WatchRun } from '../records/run.ts';
import type { WatchStatus } from '../records/watch-state.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';

/** Model calls that failed in a row, after which a watch counts as blind. */
const maxModelFailures = rules.maxModelFailures;

/** Numbers of watches that are neither paused nor deleted. A watch can be in several of the last four. */
export type WatchNumbers = Record<Exclude<WatchStatus, 'paused'>, number> & {
  /** Watches whose check is overdue, or was at the last one. */
  late: number;
  /** Watches whose model calls fail. */
  unjudged: number;
  /** Watches with a destination that accepts nothing. */
  destinations_failing: number;
};

type Counted = Pick<WatchRun, 'status' | 'state' | 'sight' | 'next'>;

/** Counts watches by status and trouble. */
export function countWatches(runs: readonly Counted[], now: Date): WatchNumbers {
  const count = (matches: (run: Counted) => boolean) => runs.filter(matches).length;
  const having = (wanted: WatchStatus) => count(({ status }) => status === wanted);
  return {
    active: having('active'),
    off_schedule: having('off_schedule'),
    budget_exhausted: having('budget_exhausted'),
    stream_lost: having('stream_lost'),
    late: count((run) => run.state.health.late_since !== null || isOverdue(run, now)),
    unjudged: count(({ sight }) => (sight.model_trouble?.failures ?? 0) >= maxModelFailures),
    destinations_failing: count(({ state }) => state.health.failing.length > 0),
  };
}

function isOverdue({ next }: Counted, now: Date): boolean {
  return next !== null && !next.done && ageSeconds(next.wait_until, now) > rules.lateWatchSeconds;
}

type Deps = Pick<CoreDeps, 'jobs' | 'watches' | 'meter' | 'pace' | 'now'> & {
  vision: Pick<VisionModel, 'provider'>;
  /** Absent on AWS. */
  mediaUse?: MediaUse;
};

/**
 * Reads the usage since the start of the count: totals of all jobs, without those from before the
 * start, plus the values of the meter. `docs/operate/metrics-and-logs.md` explains each number.
 */
export async function readMetrics(deps: Deps) {
  const {
    startedAt,
    jobsBefore,
    providers,
    directFrames,
    skippedFrames,
    deliveries,
    mails,
    searches,
    momentsDropped,
  } = await deps.meter.read();
  const jobs = await deps.jobs.usage();
  return {
    started_at: startedAt.toISOString(),
    providers: { [deps.vision.provider]: { calls: 0, errors: 0 }, ...providers },
    jobs: {
      created: jobs.jobs_created - jobsBefore.jobs_created,
      completed: jobs.jobs_completed - jobsBefore.jobs_completed,
      failed: jobs.jobs_failed - jobsBefore.jobs_failed,
    },
    frames: {
      captured: jobs.frames_captured - jobsBefore.frames_captured + directFrames,
      skipped_prefilter: jobs.frames_skipped - jobsBefore.frames_skipped + skippedFrames,
    },
    late: readLate(deps),
    watches: countWatches(await deps.watches.standing(), deps.now()),
    searches: {
      started: searches.searches,
      model_calls: searches.calls,
      cost_usd: searches.microUsd / 1_000_000,
    },
    moments: { dropped: momentsDropped },
    webhooks: { sent: deliveries.delivered, failed: deliveries.failed },
    mails: { sent: mails.delivered, failed: mails.failed },
    media: deps.mediaUse
      ? {
          bytes: deps.mediaUse.bytes,
          max_bytes: deps.mediaUse.max_bytes,
          evidence_removed: deps.mediaUse.evidence_removed,
        }
      : null,
  };
}

function readLate({ pace }: Pick<CoreDeps, 'pace'>) {
  const { lateSeconds, stretch, lateChecks, blockedSeconds, sessionFallbacks } = pace.read();
  return {
    checks: lateChecks,
    seconds: round(lateSeconds),
    interval_factor: round(stretch),
    blocked_seconds: round(blockedSeconds),
    session_fallbacks: sessionFallbacks,
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
