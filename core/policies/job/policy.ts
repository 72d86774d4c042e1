import type { Limits } from '../../dependencies.ts';
import type { VisionModel } from '../../ports/vision-model.ts';
import { type Job, type Source, isTerminal } from '../../records/job.ts';
import type { RunChange } from '../../ports/runs.ts';
import { assignSequences } from '../../records/event.ts';
import { toJobType } from '../../records/job-type.ts';
import type { CaptureOutput } from '../../records/workflow.ts';
import type { ClosureResult } from '../../records/window-closure.ts';
import { atTick } from '../../sight/clock-change.ts';
import { mapJobTimes, withMovedTimes } from './map-times.ts';
import { planTick, type JobUpdate } from './plan-change.ts';
import { durationSeconds, intervalSeconds, jobWakeUpTime } from './next-tick.ts';
import { leaseUntil } from '../../tick/advance-run.ts';
import type { JobEnding, TickDecision, JobOutcome } from './outcome.ts';
import { addSeconds, earlier } from '../../time.ts';
import type { WindowsToClose, Evidence, Picture, Policy, Tick, Work } from '../policy.ts';

/** Service and model that a new job depends on. */
export type PlanDeps = {
  limits: Pick<Limits, 'maxJobSeconds' | 'wakesOnMotion'>;
  vision: Pick<VisionModel, 'capabilities' | 'model'>;
  /** True if the stream gives single pictures only. Undefined before the probe. */
  framesOnly?: boolean | undefined;
};

type FieldsOf<J extends Job> = J extends Job ? Pick<J, 'policy' | 'config' | 'state'> : never;
/** Fields that differ between the policies of jobs. */
export type PolicyFields = FieldsOf<Job>;

/** New job, as its policy plans it from a request. */
export type JobPlan<Fields extends PolicyFields = PolicyFields> = {
  fields: Fields;
  capture: Pick<Source, 'input_mode' | 'clip_duration_seconds' | 'look_back'>;
  /** Differences between the request and the job, for its caller. */
  notices: (string | undefined)[];
};

/** Describes a duration above the cap of this server. Returns undefined below it. */
export function limitNotice(wantedSeconds: number, allowedSeconds: number): string | undefined {
  return wantedSeconds > allowedSeconds ? `Limited to ${allowedSeconds} s by this server.` : undefined;
}

export type JobSettings = {
  /** Time for which an ended job stays readable, in seconds. */
  retentionSeconds: number;
};

/** Update of a job before its end. `complete`: no further update is necessary. */
export type FinalUpdate = JobUpdate & { complete: boolean };

export type JobDecisions<J extends Job> = {
  planAgain(request: object, deps: PlanDeps): JobPlan;
  /** Screens a capture, and plans a check of it. */
  work(job: J, captured: CaptureOutput, now: Date): Work<JobOutcome>;
  /** Plans the windows that a tick closes. */
  windows?(job: J, outcome: JobOutcome, now: Date): WindowsToClose | undefined;
  decide(job: J, outcome: JobOutcome, now: Date, stretch: number): TickDecision;
  /**
   * Plans the windows that the end of a running job closes outside of a tick: its cancellation, or the failure of its
   * execution.
   */
  lastWindows?(job: J, ending: JobEnding, now: Date): WindowsToClose | undefined;
  /** Returns the last events and state of such a job; `closed` are its last windows. */
  finish?(job: J, end: { at: Date; closed: ClosureResult | undefined }, now: Date): FinalUpdate | undefined;
  /** Pictures that the job refers to, besides its newest frame. */
  pictures?(job: J): Picture[];
  /** Returns the pictures to store before a change is committed that refers to them. */
  evidence?(outcome: JobOutcome, change: RunChange): Evidence[];
};

/** Returns the policy of a job for the steps of the workflow. */
export function toJobPolicy<J extends Job>(
  policy: J['policy'],
  { work, windows, decide, pictures, evidence }: JobDecisions<J>,
  settings: JobSettings,
): Policy<J, JobOutcome> {
  return {
    owns: (run): run is J => run.policy === policy,
    probesLost: false,
    confirms: () => false,
    isOver: ({ status }) => isTerminal(status),
    interval: intervalSeconds,
    wakeAt: jobWakeUpTime,
    begin: planBegin,
    beginsClosed: () => false,
    countsLate: () => false,
    work,
    ...(windows && {
      windows: (stored, tick, time) => {
        const { run: job, now } = atTick(stored, time, mapJobTimes);
        return windows(job, toOutcome(stored, tick), now);
      },
    }),
    decide: (stored, tick, now) => planJobTick(stored, tick, now, settings, decide),
    pictures: (job) => {
      const { last_frame: last } = job.sight;
      return [...(last ? [{ key: last.key, isEvidence: last.evidence }] : []), ...(pictures?.(job) ?? [])];
    },
    evidence: (_, seen, change) => evidence?.(seen, change) ?? [],
  };
}

/** Plans the change from pending to running. The duration of the job counts from here. */
function planBegin(job: Job, now: Date): RunChange | undefined {
  if (job.status !== 'pending') return undefined;
  const { policy, config, notices } = job;
  const started = {
    job_type: toJobType(policy),
    status: 'running' as const,
    config,
    ...(notices.length > 0 && { notices }),
  };
  return {
    runId: job.run_id,
    expectedVersion: job.version,
    set: {
      status: 'running',
      started_at: now.toISOString(),
      deadline: addSeconds(now, durationSeconds(job)).toISOString(),
      lease_until: leaseUntil(now),
      sight: { ...job.sight, counted_until: now.toISOString() },
      sequence: job.sequence + 1,
    },
    events: assignSequences([{ type: 'job_started', data: started }], job.run_id, job.sequence, now),
  };
}

/** Plans the one transaction of a tick of a job, on the clock of the tick. */
function planJobTick<J extends Job>(
  stored: J,
  tick: Tick<JobOutcome>,
  time: Date,
  { retentionSeconds }: JobSettings,
  decide: (job: J, outcome: JobOutcome, now: Date, stretch: number) => TickDecision,
): RunChange {
  const { run: job, now } = atTick(stored, time, mapJobTimes);
  const decision = decide(job, toOutcome(stored, tick), now, tick.stretch);
  return withMovedTimes(planTick(job, decision, tick.input, retentionSeconds, now), stored, job);
}

/** Returns what a tick saw with its times, and the windows that it closes. */
function toOutcome(
  stored: Job,
  {
    input,
    seen,
    askedAt: asked,
    closed,
  }: Pick<Tick<JobOutcome>, 'input' | 'seen' | 'askedAt'> & {
    closed?: Tick<JobOutcome>['closed'];
  },
): JobOutcome {
  const { now: askedAt } = atTick(stored, asked, mapJobTimes);
  const beganAt = earlier(new Date(input.captured.began_at), askedAt);
  return { ...seen, times: { at: seen.kind === 'no_capture' ? askedAt : beganAt, askedAt }, closed };
}
