import type { JobChange } from '../ports/job-store.ts';
import { isTerminal } from '../records/job.ts';
import type { Job } from '../records/job.ts';
import { mapRunTimes } from '../sight/clock-change.ts';
import type { Mover } from '../sight/clock-change.ts';

/** Replaces the times of a job. A job that has ended keeps them. */
export function mapJobTimes(job: Job, move: Mover): Job {
  if (isTerminal(job.status)) return job;
  const { past, other } = move;
  const { sight, ...moved } = mapRunTimes(job, move);
  const run = {
    started_at: past(job.started_at),
    deadline: other(job.deadline),
    sight: {
      ...sight,
      last_trigger_at: past(sight.last_trigger_at),
      gaps: sight.gaps.map(({ from, to, reason }) => ({ from: past(from), to: past(to), reason })),
    },
  };
  if (moved.policy === 'monitor') return { ...moved, ...run };
  const { windows, end } = moved.digest;
  return {
    ...moved,
    ...run,
    digest: {
      ...moved.digest,
      windows: windows.map((window) => ({
        ...window,
        samples: window.samples.map((sample) => ({ ...sample, captured_at: other(sample.captured_at) })),
      })),
      end: end && { ...end, at: past(end.at) },
    },
  };
}

/** Returns the change with the times of `job` if they differ from those of `stored`, so that moved times are stored. */
export function withMovedTimes(change: JobChange, stored: Job, job: Job): JobChange {
  if (job === stored) return change;
  const { started_at, deadline, sight } = job;
  const digest = job.policy === 'digest' ? { digest: job.digest } : {};
  return { ...change, set: { started_at, deadline, sight, ...digest, ...change.set } };
}
