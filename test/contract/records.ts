import { randomUUID } from 'node:crypto';
import { digestRecords } from '../../core/policies/digest/records.ts';
import { monitorRecords } from '../../core/policies/monitor/records.ts';
import { assignSequences, type JobEvent, type NewEvent } from '../../core/records/event.ts';
import { initialJobSight, type Job, type JobOf, type Source, zeroCounters } from '../../core/records/job.ts';
import { toJobType } from '../../core/records/job-type.ts';
import { initialProgress } from '../../core/records/run-base.ts';
import { type JobChange, type JobCreation, noTotals, type RunChange } from '../../core/ports/runs.ts';
import type { Run } from '../../core/records/run.ts';

/** Records like those of the core, for the contract suites. */

export const start = new Date('2026-03-01T12:00:00.000Z');

export function after(seconds: number): Date {
  return new Date(start.getTime() + seconds * 1_000);
}

export function newJob(overrides: Partial<JobOf<'monitor'>> = {}): JobOf<'monitor'> {
  return {
    run_id: randomUUID(),
    caller: 'harbour',
    policy: 'monitor',
    status: 'pending',
    created_at: start.toISOString(),
    stream_url: 'https://example.com/live.m3u8',
    source_id: randomUUID(),
    stream_phase: null,
    webhook_url: null,
    webhook_events: null,
    config: {
      condition: 'a ship enters the lock',
      interval_seconds: 10,
      input_mode: 'frames',
      clip_duration_seconds: 3,
      monitor_duration_seconds: 600,
      trigger_cooldown_seconds: 0,
      max_triggers: 1,
      enable_prefilter: true,
    },
    state: monitorRecords.initialState,
    counters: zeroCounters,
    ...initialProgress,
    sight: initialJobSight,
    notices: [],
    labels: [],
    model_grace_seconds: 0,
    lease_until: after(60).toISOString(),
    started_at: null,
    deadline: null,
    ended_at: null,
    reason: null,
    failure: null,
    expires_at: null,
    ...overrides,
  };
}

export function newDigest(overrides: Partial<JobOf<'digest'>> = {}): JobOf<'digest'> {
  const { config: _, ...job } = newJob();
  return {
    ...job,
    policy: 'digest',
    config: {
      window_minutes: 10,
      capture_interval_seconds: 60,
      max_windows: null,
      digest_duration_seconds: 600,
      input_mode: 'frames',
      include_frames: false,
      enable_prefilter: true,
    },
    state: digestRecords.initialState,
    ...overrides,
  };
}

export function createSource(job: Job): Source {
  return {
    source_id: job.source_id,
    caller: job.caller,
    url: 'https://user:secret@example.com/live.m3u8',
    input_mode: 'frames',
    clip_duration_seconds: 3,
  };
}

export function createCreation(job: Job, rest: Partial<JobCreation> = {}): JobCreation {
  return { job, source: createSource(job), slotLimit: 10, ...rest };
}

export function idempotency(key: string, requestHash: string) {
  return { key, requestHash, expiresAt: after(86_400) };
}

export const progress: NewEvent = {
  type: 'progress',
  data: {
    check: 1,
    checks_performed: 1,
    frames_skipped: 0,
    triggers_fired: 0,
    triggered: false,
    judged: true,
    prefilter_skipped: false,
    motion: 0.25,
    explanation: 'The lock is empty.',
    captured_at: start.toISOString(),
    stream: 'ok',
    picture: 'ok',
    next_check_at: after(10).toISOString(),
  },
};

export const triggered: NewEvent = {
  type: 'watch_triggered',
  data: {
    condition: 'a ship enters the lock',
    triggered: true,
    explanation: 'A barge is between the gates.',
    prefilter_skipped: false,
    frame_key: 'captures/0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001/1-a.jpg',
    captured_at: start.toISOString(),
    triggers_fired: 1,
  },
};

export const stopped: NewEvent = {
  type: 'job_stopped',
  data: {
    status: 'stopped',
    reason: 'cancelled',
    checks_performed: 1,
    triggers_fired: 0,
    frames_skipped: 0,
    auto_stopped: false,
    watch_duration_seconds: 12.5,
  },
};

export function startedEvent(job: Job): NewEvent {
  return {
    type: 'job_started',
    data: { job_type: toJobType(job.policy), status: 'running', config: job.config },
  };
}

/** Creates a change of `job` that adds these events and advances `sequence`. */
export function createChange(job: Job, events: NewEvent[], rest: Partial<JobChange> = {}): JobChange {
  const placed: JobEvent[] = assignSequences(events, job.run_id, job.sequence, start);
  const { set, ...others } = rest;
  return {
    runId: job.run_id,
    expectedVersion: job.version,
    set: { ...set, sequence: job.sequence + events.length },
    events: placed,
    ...others,
  };
}

export function begin(job: Job): JobChange {
  return createChange(job, [startedEvent(job)], {
    set: { status: 'running', started_at: start.toISOString(), deadline: after(600).toISOString() },
  });
}

/** Creates the change that ends a pending or running job, which expires an hour later. */
export function end(job: Job, at: Date = start): JobChange {
  return createChange(job, [stopped], {
    set: {
      status: 'stopped',
      reason: 'cancelled',
      ended_at: at.toISOString(),
      expires_at: new Date(at.getTime() + 3_600_000).toISOString(),
    },
    releasesSlotOf: job.caller,
    totalsDelta: { ...noTotals, jobs_stopped: 1, checks_performed: 3, input_tokens: 500 },
  });
}

/** Returns a run after a change. */
export function changed<R extends Run>(run: R, change: Pick<RunChange, 'set'>): R {
  return { ...run, ...change.set, version: run.version + 1 };
}

/** Returns the key of the delivery of a job's event. */
export function webhookKey(jobId: string, sequence: number) {
  return { run: 'job', run_id: jobId, sequence, destination_id: 'webhook' } as const;
}

/** Returns the first message of a job's event. */
export function webhookMessage(jobId: string, sequence: number) {
  return { ...webhookKey(jobId, sequence), subject: 'log', resend: 0, attempt: 0 };
}
