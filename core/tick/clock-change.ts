import type { JobChange } from '../ports/job-store.ts';
import { isTerminal } from '../records/job.ts';
import type { DigestState, Job } from '../records/job.ts';
import { mapRunTimes } from '../sight/clock-change.ts';
import type { Mover } from '../sight/clock-change.ts';

/** Replaces the times of a job. A job that has ended keeps them. */
export function mapJobTimes<J extends Job>(job: J, move: Mover): J {
  if (isTerminal(job.status)) return job;
  const { past, other } = move;
  const moved = mapRunTimes(job, move);
  const { sight } = moved;
  const times = {
    started_at: past(job.started_at),
    deadline: other(job.deadline),
    sight: {
      ...sight,
      last_trigger_at: past(sight.last_trigger_at),
      gaps: sight.gaps.map(({ from, to, reason }) => ({ from: past(from), to: past(to), reason })),
    },
  };
  return job.policy === 'digest'
    ? { ...moved, ...times, digest: mapDigestTimes(job.digest, move) }
    : { ...moved, ...times };
}

function mapDigestTimes(digest: DigestState, { past, other }: Mover): DigestState {
  return {
    ...digest,
    windows: digest.windows.map((window) => ({
      ...window,
      samples: window.samples.map((sample) => ({ ...sample, captured_at: other(sample.captured_at) })),
    })),
    end: digest.end && { ...digest.end, at: past(digest.end.at) },
  };
}

/** Returns the change with the times of `job` if they differ from those of `stored`, so that moved times are stored. */
export function withMovedTimes(change: JobChange, stored: Job, job: Job): JobChange {
  if (job === stored) return change;
  const { started_at, deadline, sight } = job;
  const digest = job.policy === 'digest' ? { digest: job.digest } : {};
  return { ...change, set: { started_at, deadline, sight, ...digest, ...change.set } };
}
