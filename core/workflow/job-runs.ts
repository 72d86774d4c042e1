import type { CoreDeps, Limits } from '../dependencies.ts';
import { decideDigestTick } from '../policies/digest/after-tick.ts';
import { summarizeWindows } from '../policies/digest/summarize-windows.ts';
import type { SummaryDeps } from '../policies/digest/summarize-windows.ts';
import { planTickClosure } from '../policies/digest/window-closure.ts';
import { decideMonitorTick } from '../policies/monitor/after-tick.ts';
import type { JobChange } from '../ports/job-store.ts';
import { jobLog } from '../ports/log.ts';
import { applyJobChange, isTerminal } from '../records/job.ts';
import type { Job } from '../records/job.ts';
import type { TickInput } from '../records/workflow.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';
import { atTick } from '../sight/clock-change.ts';
import { mapJobTimes, withMovedTimes } from '../tick/clock-change.ts';
import { recordModelWait } from '../tick/coverage.ts';
import { planTick, unreferencedMedia } from '../tick/job-change.ts';
import { intervalSeconds, jobWakeUpTime } from '../tick/next-tick.ts';
import { screenCapture } from '../tick/screen-capture.ts';
import type { Screening } from '../sight/screening.ts';
import { readTimes } from '../tick/tick-outcome.ts';
import type { TickDecision, TickOutcome } from '../tick/tick-outcome.ts';
import { earlier } from '../time.ts';
import { beginJob } from './begin-job.ts';
import { judgeCapture } from './judge-capture.ts';
import type { RunKind } from './run-kind.ts';

export type JobRunDeps = SummaryDeps &
  Pick<CoreDeps, 'jobs' | 'now' | 'cutFrame'> & {
    limits: Pick<Limits, 'retentionSeconds' | 'visionTimeoutSeconds'>;
  };

/** Runs of jobs. */
export function createJobRuns(deps: JobRunDeps): RunKind<Job, TickOutcome, JobChange> {
  return {
    find: async (id) => deps.jobs.get(id, deps.now()),
    isOver: ({ status }) => isTerminal(status),
    intervalSeconds,
    wakeAt: jobWakeUpTime,
    observe: async ({ stored }, input, signal) => ({ outcome: await observe(stored, input, deps, signal) }),
    complete: async ({ stored }, observed, signal) => withClosedWindows(stored, observed, deps, signal),
    countsLate: () => false,
    plan: async ({ stored }, outcome, { input, stretch }) => {
      const { run: job, now } = atTick(stored, deps.now(), mapJobTimes);
      const decision = decideAfterTick(job, outcome, now, stretch);
      const change = planTick(job, decision, input, deps.limits.retentionSeconds, now);
      return withMovedTimes(change, stored, job);
    },
    storeEvidence: async (_, outcome, change) => storeEvidence(outcome, change, deps),
    commit: async (change) => deps.jobs.commit(change),
    after: applyJobChange,
    unreferenced: unreferencedMedia,
    report: async (job, outcome) => report(job, outcome, deps),
    begin: async (job, bursts) => beginJob(job, bursts, deps),
  };
}

async function observe(
  stored: Job,
  input: TickInput,
  deps: JobRunDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { run: job, now } = atTick(stored, deps.now(), mapJobTimes);
  const plan = screenCapture(job, input.captured, now);
  const at = plan.kind === 'no_capture' ? now : earlier(new Date(input.captured.began_at), now);
  return { ...(await judgeOrSample(job, plan, deps, signal)), times: { at, askedAt: now } };
}

async function judgeOrSample(
  job: Job,
  plan: Screening,
  deps: JobRunDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  if (plan.kind !== 'fresh') return plan;
  switch (job.policy) {
    case 'monitor':
      return judgeCapture(job, plan.captured, deps, signal);
    case 'digest':
      return { kind: 'sampled', captured: plan.captured };
  }
}

/** Closures are planned again after a conflict, because a concurrent change may have closed windows. */
async function withClosedWindows(
  stored: Job,
  observed: TickOutcome,
  deps: JobRunDeps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { run: job, now } = atTick(stored, deps.now(), mapJobTimes);
  const closing = job.policy === 'digest' ? planTickClosure(job, observed, now) : undefined;
  if (job.policy !== 'digest' || !closing) return observed;
  const timeout = { seconds: deps.limits.visionTimeoutSeconds, signal };
  return { ...observed, closed: await summarizeWindows(job, closing, deps, timeout) };
}

/** Decides everything about a tick, from the job before it, the outcome and the time. Pure. */
export function decideAfterTick(job: Job, outcome: TickOutcome, now: Date, stretch = 1): TickDecision {
  const { askedAt } = readTimes(outcome, now);
  switch (job.policy) {
    case 'monitor': {
      const decision = decideMonitorTick(job, outcome, now, stretch);
      return { ...decision, sight: recordModelWait(job, decision.sight, askedAt, now) };
    }
    case 'digest': {
      const decision = decideDigestTick(job, outcome, now, stretch);
      const after = { ...job, digest: decision.digest };
      return { ...decision, sight: recordModelWait(after, decision.sight, askedAt, now) };
    }
  }
}

/** Stores the frame of the clip that an alert refers to. */
async function storeEvidence(
  outcome: TickOutcome,
  { events }: JobChange,
  deps: JobRunDeps,
): Promise<string[]> {
  const alert = events.find((event) => event.type === 'watch_triggered');
  if (outcome.kind !== 'judged' || alert?.type !== 'watch_triggered') return [];
  const { shown_at_seconds: atSeconds } = outcome.verdict;
  if (atSeconds === undefined) return [];
  await storeShownFrame(alert.data.frame_key, outcome.captured, atSeconds, deps);
  return [alert.data.frame_key];
}

function report(job: Job, outcome: TickOutcome, deps: JobRunDeps): void {
  const log = jobLog(deps.log, job.run_id);
  const fields = { tick: job.last_tick, outcome: outcome.kind, triggers_fired: job.counters.triggers_fired };
  if (outcome.closed?.result.kind === 'missed')
    log.warning('Summary failed', {
      ...fields,
      remediation: outcome.closed.result.failure.remediation,
    });
  if (outcome.kind === 'model_failed')
    log.warning('Check failed', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
  if (job.reason) log.info('Job ended', { status: job.status, reason: job.reason });
}
