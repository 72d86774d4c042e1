import type { InputMode } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { rules } from '../decision/rules.ts';
import { addSeconds } from '../decision/schedule.ts';
import { InvalidInputModeError, MaxJobsReachedError } from '../errors.ts';
import { noCounts, nothingWatched } from '../job.ts';
import type { Job, MonitorConfig, Source } from '../job.ts';
import { maskUrl } from '../mask-url.ts';
import { jobLog } from '../ports/log.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { MonitorRequest } from '../requests/live-monitor.ts';

type Needs = Pick<
  Collaborators,
  'jobs' | 'streams' | 'urls' | 'vision' | 'executions' | 'limits' | 'log' | 'now' | 'newId'
>;

/**
 * Accepts a monitor: the stream is live, a slot is free, the job is stored; only then is its execution started. A start
 * that is lost is made up for by `reconcile`. Throws the contract's errors; nothing is stored then.
 */
export async function createMonitor(request: MonitorRequest, caller: string, c: Needs): Promise<Job> {
  checkUrls(request, c);
  const config = configOf(request, c);
  await refuseWhenFull(caller, c);
  await c.streams.probe(request.stream_url, AbortSignal.timeout(c.limits.captureTimeoutSeconds * 1000));
  const { job, source } = newJob(request, config, caller, c);
  const result = await c.jobs.create({ job, source, slotLimit: c.limits.jobsPerCaller }, c.now());
  if (result.kind === 'slots_full') throw new MaxJobsReachedError(c.limits.jobsPerCaller);
  jobLog(c.log, job.job_id).info('Job accepted', {
    caller,
    job_type: job.job_type,
    stream_url: job.stream_url,
  });
  await startQuietly(job, c);
  return job;
}

function checkUrls(request: MonitorRequest, { urls }: Needs): void {
  urls.check(request.stream_url, ['http', 'https', 'rtsp']);
  if (request.webhook_url) urls.check(request.webhook_url, ['http', 'https']);
}

function configOf(request: MonitorRequest, { vision, limits }: Needs): MonitorConfig {
  return {
    condition: request.condition,
    interval_seconds: request.interval_seconds,
    input_mode: inputModeFor(request.input_mode, vision),
    clip_duration_seconds: request.clip_duration_seconds,
    monitor_duration_seconds: Math.min(request.monitor_duration_seconds, limits.maxJobSeconds),
    trigger_cooldown_seconds: request.trigger_cooldown_seconds,
    max_triggers: request.max_triggers,
    enable_prefilter: request.enable_prefilter,
  };
}

/** A mode that was asked for and cannot be had is an error; one that was left out becomes what the model takes. */
function inputModeFor(asked: InputMode | undefined, vision: VisionModel): InputMode {
  if (asked === undefined) return vision.takesVideo ? 'clip' : 'frames';
  if (asked !== 'frames' && !vision.takesVideo) throw new InvalidInputModeError(asked, vision.model);
  return asked;
}

/** Spares a full caller the wait for the stream; the transaction decides. */
async function refuseWhenFull(caller: string, { jobs, limits }: Needs): Promise<void> {
  if ((await jobs.countActive(caller)) >= limits.jobsPerCaller)
    throw new MaxJobsReachedError(limits.jobsPerCaller);
}

function newJob(
  request: MonitorRequest,
  config: MonitorConfig,
  caller: string,
  c: Needs,
): { job: Job; source: Source } {
  const now = c.now();
  const sourceId = c.newId();
  const job: Job = {
    job_id: c.newId(),
    caller,
    job_type: 'live-monitor',
    status: 'pending',
    created_at: now.toISOString(),
    stream_url: maskUrl(request.stream_url),
    source_id: sourceId,
    webhook_url: request.webhook_url ?? null,
    config,
    counters: noCounts,
    watch: nothingWatched,
    sequence: 0,
    last_tick: 0,
    next: null,
    generation: 0,
    lease_until: addSeconds(now, rules.startAllowanceSeconds).toISOString(),
    started_at: null,
    deadline: null,
    ended_at: null,
    reason: null,
    failure: null,
    published: 0,
    expires_at: null,
  };
  const source: Source = {
    source_id: sourceId,
    url: request.stream_url,
    input_mode: config.input_mode,
    clip_duration_seconds: config.clip_duration_seconds,
  };
  return { job, source };
}

async function startQuietly(job: Job, { executions, log }: Needs): Promise<void> {
  try {
    await executions.start({ job_id: job.job_id, generation: job.generation });
  } catch (error) {
    jobLog(log, job.job_id).warning('Execution not started yet; reconcile starts it', {
      error: String(error),
    });
  }
}
