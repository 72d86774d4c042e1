import { rules } from '../rules.ts';
import { digestRecords } from '../policies/digest/records.ts';
import type { DigestConfig } from '../policies/digest/records.ts';
import type { JobOf } from '../records/job.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { DigestRequest } from '../requests/live-digest.ts';
import { acceptJob, limitNotice } from './accept-job.ts';
import type { AcceptDeps, Origin } from './accept-job.ts';

/** Accepts a digest. Throws the contract's errors. */
export async function createDigest(
  request: DigestRequest,
  caller: string,
  deps: AcceptDeps,
  idempotency?: IdempotencyRecord,
  origin: Origin = {},
): Promise<JobOf<'digest'>> {
  const config = toConfig(request, deps);
  const capture = { input_mode: config.input_mode, clip_duration_seconds: 0 };
  const kind = { policy: 'digest', config, state: digestRecords.initialState } as const;
  const wantedSeconds = (request.max_windows ?? 0) * request.window_minutes * 60;
  const notices = [limitNotice(wantedSeconds, config.digest_duration_seconds)];
  return acceptJob({ request, kind, capture, notices, origin }, caller, deps, idempotency);
}

function toConfig(request: DigestRequest, { limits }: AcceptDeps): DigestConfig {
  return {
    window_minutes: request.window_minutes,
    capture_interval_seconds: request.capture_interval_seconds,
    max_windows: request.max_windows,
    digest_duration_seconds: computeDuration(request, limits.maxJobSeconds),
    input_mode: 'frames',
    include_frames: request.include_frames,
    enable_prefilter: request.enable_prefilter,
  };
}

/** Returns the time of all windows, at most a day. Without a number of windows, returns the server cap, at least one window. */
function computeDuration({ window_minutes, max_windows }: DigestRequest, serverCapSeconds: number): number {
  const windowSeconds = window_minutes * 60;
  if (max_windows === null) return Math.max(serverCapSeconds, windowSeconds);
  return Math.min(max_windows * windowSeconds, rules.maxJobDurationSeconds);
}
