import type { DigestConfig } from '../../core/policies/digest/records.ts';
import type { MonitorConfig } from '../../core/policies/monitor/records.ts';
import type { JobOf } from '../../core/records/job.ts';
import type { JobOutcome } from '../../core/policies/job/outcome.ts';
import type { CaptureOutput } from '../../core/records/workflow.ts';
import { after, newDigest, newJob, start } from '../contract/records.ts';

type Captured = Extract<CaptureOutput, { kind: 'captured' }>;

export { after, start };

/** Returns a monitor that has run since `start`. */
export function runningJob(
  config: Partial<MonitorConfig> = {},
  rest: Partial<JobOf<'monitor'>> = {},
): JobOf<'monitor'> {
  const job = newJob();
  return {
    ...job,
    status: 'running',
    started_at: start.toISOString(),
    deadline: after(config.monitor_duration_seconds ?? 600).toISOString(),
    sequence: 1,
    sight: { ...job.sight, counted_until: start.toISOString() },
    config: { ...job.config, ...config },
    ...rest,
  };
}

/** Returns a digest that has run since `start`. */
export function runningDigest(
  config: Partial<DigestConfig> = {},
  rest: Partial<JobOf<'digest'>> = {},
): JobOf<'digest'> {
  const job = newDigest();
  return {
    ...job,
    status: 'running',
    started_at: start.toISOString(),
    deadline: after(config.digest_duration_seconds ?? 600).toISOString(),
    sequence: 1,
    sight: { ...job.sight, counted_until: start.toISOString() },
    config: { ...job.config, ...config },
    ...rest,
  };
}

/** Returns the result of a capture with motion. */
export function captured(rest: Partial<Captured> = {}, at = start): Captured {
  return {
    kind: 'captured',
    frame_key: 'captures/0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001/1-a.jpg',
    clip_key: null,
    captured_at: at.toISOString(),
    seen: {
      position: { segment: '7:/live/7.ts', segment_seconds: 2 },
      since: at.toISOString(),
      identical_since: null,
      seen_at: at.toISOString(),
    },
    repeated: false,
    moved: true,
    changed_share: 0.2,
    black: false,
    motion_if_judged: 'looked',
    motion_if_skipped: 'skipped',
    began_at: at.toISOString(),
    ...rest,
  };
}

/** Returns the outcome of a tick with a verdict. */
export function looked(triggered: boolean): JobOutcome {
  return {
    kind: 'judged',
    verdict: {
      triggered,
      explanation: 'A barge is between the gates.',
      tokens: { input_tokens: 900, output_tokens: 30 },
    },
    captured: captured(),
  };
}

/** Outcome of a tick whose model call failed. */
export const missed: JobOutcome = {
  kind: 'model_failed',
  failure: { code: 'VLM_ERROR', message: 'Vision model analysis failed', remediation: 'Try again.' },
  captured: captured(),
};

/** Outcome of a tick whose model had too many images to judge. */
export const modelBusy: JobOutcome = { kind: 'model_busy', captured: captured() };

/** Outcome of a tick whose capture failed. */
export const captureFailed: JobOutcome = {
  kind: 'capture_failed',
  code: 'STREAM_FETCH_FAILED',
  message: 'Failed to fetch stream',
  remediation: 'Try again.',
  accessRefused: false,
};
