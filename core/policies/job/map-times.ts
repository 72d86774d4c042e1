import type { JobChange } from '../../ports/runs.ts';
import { isTerminal, type Job } from '../../records/job.ts';
import { withKind } from '../../records/job-kind.ts';
import { mapRunTimes } from '../../sight/clock-change.ts';
import type { Mover } from '../../time.ts';

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
      gaps: sight.gaps.map(({ from, to, reason }) => ({ from: past(from), to: past(to), reason })),
    },
  };
  const state = withKind(job, (typed, kind): Job['state'] => kind.mapTimes(typed.state, move));
  return { ...moved, ...times, state };
}

/** Returns the change with the times of `job` if they differ from those of `stored`, so that moved times are stored. */
export function withMovedTimes(change: JobChange, stored: Job, job: Job): JobChange {
  if (job === stored) return change;
  const { started_at, deadline, sight, state } = job;
  return { ...change, set: { started_at, deadline, sight, state, ...change.set } };
}
