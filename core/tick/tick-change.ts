import { assignSequences } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { JobChange, JobPatch } from '../ports/job-store.ts';
import { transitions } from '../records/transitions.ts';
import type { CaptureState } from '../records/workflow.ts';
import { planEnd } from './end.ts';
import type { JobUpdate } from './end.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../schedule.ts';
import type { TickDecision } from './tick-decision.ts';

/** The one transaction of a tick: its events, the job's new numbers, and its end where the tick ends it. */
export function planTick(
  job: Job,
  decision: TickDecision,
  captureState: CaptureState,
  retentionSeconds: number,
  now: Date,
): JobChange {
  const tick = job.last_tick + 1;
  const handsOver = mustHandOver(job, tick, decision);
  const set: JobPatch = {
    counters: decision.counters,
    watch: decision.watch,
    ...(decision.digest ? { digest: decision.digest } : {}),
    last_tick: tick,
    next: decision.next,
    lease_until: leaseUntil(new Date(decision.next.wait_until)),
    ...(handsOver ? { generation: nextGeneration(job, tick), burst: 0 } : {}),
    handed_over: handsOver ? captureState : null,
  };
  if (decision.ending)
    return planEnd(job, decision.ending, retentionSeconds, now, { set, events: decision.events });
  return planUpdate(job, { set, events: decision.events }, now);
}

/**
 * Returns true for the last tick of a generation. It logs an event: the sequence then tells a change that was built before the hand-over, such as the
 * failure of the old execution, that it is outdated.
 */
function mustHandOver({ generation, burst }: Job, tick: number, { next, events }: TickDecision): boolean {
  if (next.done || events.length === 0) return false;
  return tick >= rules.ticksPerExecution * (generation + 1) || burst >= rules.beginsPerExecution;
}

/** Skips the generations that a release with longer ones did not start, so that such a job is handed over once. */
function nextGeneration({ generation }: Job, tick: number): number {
  return Math.max(generation + 1, Math.floor(tick / rules.ticksPerExecution));
}

/** Plans the change of a job that does not end with it. */
export function planUpdate(job: Job, { set, events }: JobUpdate, now: Date): JobChange {
  return {
    jobId: job.job_id,
    from: transitions.tick.from,
    expectedSequence: job.sequence,
    set: { ...set, sequence: job.sequence + events.length },
    events: assignSequences(events, job.job_id, job.sequence, now),
  };
}

/** A job that should wake at `wakeAt` counts as lost when it has been silent for this long after it. */
export function leaseUntil(wakeAt: Date): string {
  return addSeconds(wakeAt, rules.leaseMarginSeconds).toISOString();
}
