import { rules } from '../rules.ts';
import { initialDigestState } from '../records/digest-state.ts';
import type { DigestConfig, DigestJob } from '../records/job.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { DigestRequest } from '../requests/live-digest.ts';
import type { UnknownField } from '../requests/unknown-fields.ts';
import { acceptJob } from './accept-job.ts';
import type { AcceptDeps } from './accept-job.ts';
import { digestNotices } from './creation-notices.ts';

/** Accepts a digest. `unknown` are the fields of the request that were ignored. Throws the contract's errors. */
export async function createDigest(
  request: DigestRequest,
  caller: string,
  deps: AcceptDeps,
  idempotency?: IdempotencyRecord,
  unknown: readonly UnknownField[] = [],
): Promise<DigestJob> {
  const config = toConfig(request, deps);
  const capture = { input_mode: config.input_mode, clip_duration_seconds: 0 };
  const kind = { job_type: 'live-digest', config, digest: initialDigestState } as const;
  const notices = digestNotices(request, config, unknown);
  return acceptJob({ request, kind, capture, notices }, caller, deps, idempotency);
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

/** As long as the windows need, up to a day; without a number of windows the server cap, but one window at least. */
function computeDuration({ window_minutes, max_windows }: DigestRequest, serverCapSeconds: number): number {
  const windowSeconds = window_minutes * 60;
  if (max_windows === null) return Math.max(serverCapSeconds, windowSeconds);
  return Math.min(max_windows * windowSeconds, rules.maxJobDurationSeconds);
}
