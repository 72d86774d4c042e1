import type { Job, TickState } from '../records/job.ts';
import type { JobChange } from '../ports/job-store.ts';
import { isTerminal } from '../records/job.ts';
import { rules } from '../rules.ts';
import { addSeconds, later } from '../time.ts';

/**
 * Returns the job on the clock of `now`. If the clock was set back since the job changed, all times of the job move back with it:
 * its durations stay as they were, and people read times of the clock that they see. An ended job keeps its times.
 */
export function onClock(job: Job, now: Date): Job {
  return movedBack(job, secondsAhead(pastTimes(job), now));
}

/**
 * Returns the job on the clock of its tick, and the time of the tick. The workflow never wakes a job before its time: if the clock
 * reads less than `wait_until`, the clock was set back while the job waited.
 */
export function atTick(job: Job, now: Date): { job: Job; now: Date } {
  const current = movedBack(job, secondsAhead(timesBeforeTick(job), now));
  return { job: current, now: later(now, newest(timesBeforeTick(current)) ?? now) };
}

/** Returns the change with the times of `job` if they differ from those of `stored`, so that moved times are stored. */
export function withMovedTimes(change: JobChange, stored: Job, job: Job): JobChange {
  if (job === stored) return change;
  const { started_at, deadline, sight } = job;
  const digest = job.policy === 'digest' ? { digest: job.digest } : {};
  return { ...change, set: { started_at, deadline, sight, ...digest, ...change.set } };
}

/** Times that were the current time when they were stored. */
function pastTimes(job: Job): (string | null)[] {
  const { last_watched_at, last_trigger_at, lost_since, model_failing_since } = job.sight;
  const end = job.policy === 'digest' ? job.digest.end : null;
  return [job.started_at, last_watched_at, last_trigger_at, lost_since, model_failing_since, end?.at ?? null];
}

function timesBeforeTick(job: Job): (string | null)[] {
  return [...pastTimes(job), job.next?.wait_until ?? null];
}

function newest(times: (string | null)[]): Date | undefined {
  const dates = times.flatMap((time) => (time === null ? [] : [new Date(time)]));
  return dates.length === 0 ? undefined : dates.reduce(later);
}

/** 0 if the times are ahead by less than the clocks of several machines differ. */
function secondsAhead(times: (string | null)[], now: Date): number {
  const seconds = ((newest(times)?.getTime() ?? -Infinity) - now.getTime()) / 1000;
  return seconds > rules.clockDifferenceSeconds ? seconds : 0;
}

function movedBack(job: Job, seconds: number): Job {
  if (seconds === 0 || isTerminal(job.status)) return job;
  const move = (time: string) => addSeconds(new Date(time), -seconds).toISOString();
  const moveAny = (time: string | null) => (time === null ? null : move(time));
  const moved = {
    started_at: moveAny(job.started_at),
    deadline: moveAny(job.deadline),
    sight: movedWatch(job.sight, move),
    next: job.next && { ...job.next, wait_until: move(job.next.wait_until) },
  };
  if (job.policy === 'monitor') return { ...job, ...moved };
  return {
    ...job,
    ...moved,
    digest: {
      ...job.digest,
      windows: job.digest.windows.map((window) => ({
        ...window,
        samples: window.samples.map((sample) => ({ ...sample, captured_at: move(sample.captured_at) })),
      })),
      end: job.digest.end && { ...job.digest.end, at: move(job.digest.end.at) },
    },
  };
}

function movedWatch(sight: TickState, move: (time: string) => string): TickState {
  const moveAny = (time: string | null) => (time === null ? null : move(time));
  return {
    ...sight,
    last_trigger_at: moveAny(sight.last_trigger_at),
    lost_since: moveAny(sight.lost_since),
    model_failing_since: moveAny(sight.model_failing_since),
    last_watched_at: moveAny(sight.last_watched_at),
    gaps: sight.gaps.map(({ from, to, reason }) => ({ from: move(from), to: move(to), reason })),
  };
}
