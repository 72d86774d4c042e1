import type { Collaborators } from '../collaborators.ts';
import { decideAfterTick } from '../decision/after-tick.ts';
import { planLook } from '../decision/look.ts';
import type { LookPlan } from '../decision/look.ts';
import { planTick } from '../decision/tick-change.ts';
import type { TickOutcome } from '../decision/tick-outcome.ts';
import { TransientError, VisionError } from '../errors.ts';
import type { Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import type { Look } from '../ports/vision-model.ts';
import { isTerminal } from '../transitions.ts';
import type { AnalyzeInput, Step } from '../workflow.ts';
import { publishEvents } from './publish-events.ts';

type Needs = Pick<
  Collaborators,
  'jobs' | 'media' | 'vision' | 'queue' | 'executions' | 'log' | 'limits' | 'now'
>;
type TickInput = Extract<AnalyzeInput, { operation: 'analyze' }>;

const tries = 5;

/**
 * The second half of a tick: looks where there is news, decides, and commits tick, events and perhaps the end in one
 * transaction. Repeating it is safe: a committed tick answers what was stored, without asking the model again.
 */
export async function analyzeTick(input: TickInput, c: Needs, signal?: AbortSignal): Promise<Step> {
  let outcome: TickOutcome | undefined;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const job = await c.jobs.get(input.job_id, c.now());
    if (!job || isTerminal(job.status)) return { ...stepAfter(job, input), done: true };
    if (job.last_tick >= input.capture.tick || job.generation > input.generation) {
      await startNextGeneration(job, input, c);
      await publishEvents(job.job_id, c);
      return stepAfter(job, input);
    }
    outcome ??= await look(job, input, c, signal);
    const decidedAt = c.now();
    const change = planTick(
      job,
      decideAfterTick(job, outcome, decidedAt),
      c.limits.retentionSeconds,
      decidedAt,
    );
    if ((await c.jobs.commit(change)) !== 'committed') continue;
    const committed: Job = { ...job, ...change.set };
    report(committed, outcome, c);
    await startNextGeneration(committed, input, c);
    await publishEvents(job.job_id, c);
    return stepAfter(committed, input);
  }
  throw new TransientError('The job changed too often while its tick was to be committed');
}

async function look(job: Job, input: TickInput, c: Needs, signal?: AbortSignal): Promise<TickOutcome> {
  const plan = planLook(job, input.captured, c.now());
  if (plan.kind !== 'look') return plan;
  const { captured } = plan;
  const timeout = AbortSignal.timeout(c.limits.visionTimeoutSeconds * 1000);
  try {
    const pictures = await picturesOf(plan, job, c);
    const verdict = await c.vision.judge(
      pictures,
      job.config.condition,
      signal ? AbortSignal.any([signal, timeout]) : timeout,
    );
    return { kind: 'looked', verdict, captured };
  } catch (error) {
    // An abandoned look is no verdict and no failure of the model: the task runs again.
    if (signal?.aborted || !(error instanceof VisionError)) throw error;
    const { code, message, remediation } = error;
    return { kind: 'missed', failure: { code, message, remediation }, captured };
  }
}

async function picturesOf(
  { captured }: Extract<LookPlan, { kind: 'look' }>,
  job: Job,
  c: Needs,
): Promise<Look> {
  const frame = await c.media.get(captured.frame_key);
  const clip = captured.clip_key === null ? undefined : await c.media.get(captured.clip_key);
  if (!frame || (captured.clip_key !== null && !clip)) {
    throw new VisionError(
      'The capture was removed before the model could see it; the next check takes a new one.',
    );
  }
  return { mode: job.config.input_mode, frame, ...(clip ? { clip } : {}) };
}

/** The workflow's state for what follows, from the job as it stands and this tick's capture. */
function stepAfter(job: Job | undefined, input: TickInput): Step {
  const { captured, capture } = input;
  const looked = job?.next?.looked ?? false;
  const motion =
    captured.kind !== 'captured'
      ? capture.motion
      : looked
        ? captured.motion_if_looked
        : captured.motion_if_skipped;
  return {
    job_id: input.job_id,
    generation: input.generation,
    done: !job || job.generation > input.generation || (job.next?.done ?? false),
    wait_until: job?.next?.wait_until ?? new Date(0).toISOString(),
    capture: {
      source_id: capture.source_id,
      tick: (job?.last_tick ?? capture.tick) + 1,
      closing: job?.next?.closing ?? true,
      resolve_again: job?.next?.resolve_again ?? false,
      seen: captured.kind === 'captured' ? captured.seen : capture.seen,
      motion,
    },
  };
}

/** An execution's history is finite: after a thousand ticks the next generation goes on. Starting it twice is harmless. */
async function startNextGeneration(job: Job, input: TickInput, c: Needs): Promise<void> {
  if (isTerminal(job.status) || job.generation <= input.generation) return;
  await c.executions.start({ job_id: job.job_id, generation: job.generation });
}

function report(job: Job, outcome: TickOutcome, c: Needs): void {
  const log = jobLog(c.log, job.job_id);
  const fields = { tick: job.last_tick, outcome: outcome.kind, triggers_fired: job.counters.triggers_fired };
  if (outcome.kind === 'missed')
    log.warning('Model gave no verdict', { ...fields, remediation: outcome.failure.remediation });
  else if (outcome.kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: outcome.message, remediation: outcome.remediation });
  else log.debug('Tick committed', fields);
  if (job.reason) log.info('Job ended', { status: job.status, reason: job.reason });
}
