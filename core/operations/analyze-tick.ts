import type { Collaborators, Limits } from '../collaborators.ts';
import { decideAfterTick } from '../decision/after-tick.ts';
import { atTick, withMovedTimes } from '../decision/clock-change.ts';
import { planLook } from '../decision/look.ts';
import { planTick } from '../decision/tick-change.ts';
import type { TickOutcome } from '../decision/tick-outcome.ts';
import { wakeUpTime } from '../decision/wake-up.ts';
import { unneededPictures } from '../decision/unneeded-pictures.ts';
import { closingOfTick } from '../digest/closing.ts';
import { TransientError } from '../errors.ts';
import type { Job, Next } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../transitions.ts';
import type { AnalyzeInput, CaptureState, Step } from '../workflow.ts';
import { judgeCapture } from './judge-capture.ts';
import { publishEvents } from './publish-events.ts';
import { startNextGeneration } from './start-next-generation.ts';
import { summarizeWindows } from './summarize-windows.ts';
import type { SummaryNeeds } from './summarize-windows.ts';

export type AnalyzeNeeds = SummaryNeeds &
  Pick<Collaborators, 'jobs' | 'queue' | 'executions' | 'now'> & {
    limits: Pick<Limits, 'retentionSeconds' | 'visionTimeoutSeconds'>;
  };
type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;

const tries = 5;

/**
 * The second half of a tick: asks the model where there is something to ask, decides, and commits tick, events and perhaps the end in one
 * transaction. Repeating it is safe: a committed tick answers what was stored, without asking the model again.
 */
export async function analyzeTick(input: TickInput, c: AnalyzeNeeds, signal?: AbortSignal): Promise<Step> {
  let sight: TickOutcome | undefined;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const stored = await c.jobs.get(input.job_id, c.now());
    if (!stored || isTerminal(stored.status)) return { ...stepAfter(stored, input, c.now()), done: true };
    if (stored.last_tick >= input.capture.tick || stored.generation > input.generation) {
      await startNextGeneration(stored, input, c);
      await publishEvents(stored.job_id, c);
      return stepAfter(stored, input, c.now());
    }
    sight ??= await observe(stored, input, c, signal);
    // What was seen stays seen, but others may have closed windows since: that is built anew on the job as it stands.
    const outcome = await withClosedWindows(stored, sight, c, signal);
    const { job, now: decidedAt } = atTick(stored, c.now());
    const decision = decideAfterTick(job, outcome, decidedAt);
    const captureState = captureStateAfter(input, decision.next);
    const planned = planTick(job, decision, captureState, c.limits.retentionSeconds, decidedAt);
    const change = withMovedTimes(planned, stored, job);
    if ((await c.jobs.commit(change)) !== 'committed') continue;
    const committed: Job = { ...job, ...change.set };
    await removeUnneeded(job, committed, input, c);
    report(committed, outcome, c);
    await startNextGeneration(committed, input, c);
    await publishEvents(job.job_id, c);
    return stepAfter(committed, input, c.now());
  }
  throw new TransientError('The job changed too often while its tick was to be committed');
}

async function observe(
  stored: Job,
  input: TickInput,
  c: AnalyzeNeeds,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { job, now } = atTick(stored, c.now());
  const plan = planLook(job, input.captured, now);
  switch (job.job_type) {
    case 'live-monitor':
      return plan.kind === 'look' ? judgeCapture(job, plan.captured, c, signal) : plan;
    case 'live-digest':
      return plan.kind === 'look' ? { kind: 'sampled', captured: plan.captured } : plan;
  }
}

async function withClosedWindows(
  stored: Job,
  sight: TickOutcome,
  c: AnalyzeNeeds,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  const { job, now } = atTick(stored, c.now());
  const closing = job.job_type === 'live-digest' ? closingOfTick(job, sight, now) : undefined;
  if (job.job_type !== 'live-digest' || !closing) return sight;
  const patience = { seconds: c.limits.visionTimeoutSeconds, signal };
  return { ...sight, closed: await summarizeWindows(job, closing, c, patience) };
}

/** The workflow's state for what follows, from the job as it stands and this tick's capture. */
function stepAfter(job: Job | undefined, input: TickInput, now: Date): Step {
  const { capture } = input;
  return {
    job_id: input.job_id,
    generation: input.generation,
    done: !job || job.generation > input.generation || (job.next?.done ?? false),
    wait_until: job ? wakeUpTime(job, now).toISOString() : new Date(0).toISOString(),
    capture: {
      source_id: capture.source_id,
      tick: (job?.last_tick ?? capture.tick) + 1,
      closing: job?.next?.closing ?? true,
      resolve_again: job?.next?.resolve_again ?? false,
      ...captureStateAfter(input, job?.next ?? null),
    },
  };
}

/** Returns the state for the next capture: this capture is its motion reference if the model saw it. A tick without a capture keeps the state. */
function captureStateAfter({ captured, capture }: TickInput, next: Next | null): CaptureState {
  if (captured.kind !== 'captured') return { seen: capture.seen, motion: capture.motion };
  return {
    seen: captured.seen,
    motion: next?.looked ? captured.motion_if_looked : captured.motion_if_skipped,
  };
}

/** What is left behind by a fault, or by a crash before this, goes within a day. */
async function removeUnneeded(
  before: Job,
  after: Job,
  { captured }: TickInput,
  c: AnalyzeNeeds,
): Promise<void> {
  const keys = unneededPictures(before, after, captured);
  if (keys.length === 0) return;
  await c.media.remove(keys).catch((error: unknown) => {
    jobLog(c.log, after.job_id).warning('Pictures were not removed', {
      count: keys.length,
      error: String(error),
    });
  });
}

function report(job: Job, outcome: TickOutcome, c: AnalyzeNeeds): void {
  const log = jobLog(c.log, job.job_id);
  const fields = { tick: job.last_tick, outcome: outcome.kind, triggers_fired: job.counters.triggers_fired };
  if (outcome.closed?.result.kind === 'missed')
    log.warning('Model gave no summary', {
      ...fields,
      remediation: outcome.closed.result.failure.remediation,
    });
  if (outcome.kind === 'missed')
    log.warning('Model gave no verdict', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
  if (job.reason) log.info('Job ended', { status: job.status, reason: job.reason });
}
