import type { CoreDeps } from '../dependencies.ts';
import { countWatches } from './count-watches.ts';
import type { VisionModel } from '../ports/vision-model.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'watches' | 'meter' | 'pace' | 'now'> & {
  vision: Pick<VisionModel, 'provider'>;
};

/**
 * Reads the usage since the start of the count: totals of all jobs, without those from before the
 * start, plus the values of the meter. `docs/operate/metrics-and-logs.md` explains each number.
 */
export async function readMetrics(deps: Deps) {
  const { startedAt, jobsBefore, providers, directFrames, skippedFrames, deliveries } =
    await deps.meter.read();
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
    webhooks: { sent: deliveries.delivered, failed: deliveries.failed },
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
