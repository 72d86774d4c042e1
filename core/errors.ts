import type { StreamDetails } from './records/capture.ts';

/** Errors of the interface (I-7.2 to I-7.11) and of the service. Only the HTTP edge knows status codes. */

export const errorCodes = [
  'NOT_LIVESTREAM',
  'INVALID_URL',
  'STREAM_FETCH_FAILED',
  'BAD_REQUEST',
  'INVALID_INPUT_MODE',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'JOB_NOT_FOUND',
  'JOB_ALREADY_STOPPED',
  'WATCH_NOT_FOUND',
  'ALERT_NOT_FOUND',
  'PRECONDITION_FAILED',
  'MAX_WATCHES_REACHED',
  'PAYLOAD_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'MAX_JOBS_REACHED',
  'RATE_LIMITED',
  'SERVICE_OVERLOADED',
  'VLM_ERROR',
  'INTERNAL_ERROR',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/**
 * Error for callers: what failed and the next step. Neither text contains a credential or an internal address. Each
 * class states its name, which logs contain, because bundles shorten the names of classes.
 */
export class WatchpostError extends Error {
  override name = 'WatchpostError';
  readonly code: ErrorCode;
  readonly remediation: string;

  constructor(code: ErrorCode, message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.remediation = remediation;
  }
}

/** Creates the error of a span that ends before it begins. */
export function noSpanError(from: Date, to: Date): WatchpostError {
  const span = `${from.toISOString()} to ${to.toISOString()}`;
  return new WatchpostError(
    'BAD_REQUEST',
    `The time from ${span} is no span`,
    'Set from to a time before to.',
  );
}

/** The stream cannot be used: not live, malformed or unreachable. */
export class StreamError extends WatchpostError {
  override name = 'StreamError';
}

/** The URL is malformed, of an unsupported scheme, or leads to an address that is not allowed. */
export class InvalidUrlError extends StreamError {
  override name = 'InvalidUrlError';

  constructor(remediation: string, options?: ErrorOptions) {
    super('INVALID_URL', 'Invalid URL format', remediation, options);
  }
}

/** A video, a past broadcast, or a stream that has ended (ENDLIST, PLAYLIST-TYPE:VOD, a range with an end). */
export class NotLiveError extends StreamError {
  override name = 'NotLiveError';
  /** Details that the platform returns although the stream is not live. */
  readonly details: StreamDetails;

  constructor(
    remediation: string,
    message = 'URL is not a live stream',
    { details, ...options }: ErrorOptions & { details?: StreamDetails } = {},
  ) {
    super('NOT_LIVESTREAM', message, remediation, options);
    this.details = details ?? {};
  }
}

/** End of a stream that was live. It ends a running job; `NotLiveError` rejects a new one. */
export class StreamEndedError extends NotLiveError {
  override name = 'StreamEndedError';

  constructor(options?: ErrorOptions) {
    super('The broadcast is over. Start a new job when it is live again.', 'Stream has ended', options);
  }
}

/** Transient failure: cannot connect, download or decode. */
export class StreamFetchError extends StreamError {
  override name = 'StreamFetchError';
  /**
   * True if the server refuses the user name and password of the URL, or requires some. Frequent attempts can lock the
   * account.
   */
  readonly accessRefused: boolean;
  /** True if pictures arrive, and none is whole: packets are lost on their way. */
  readonly isDamaged: boolean;

  constructor(
    remediation: string,
    message = 'Failed to fetch stream',
    {
      accessRefused = false,
      isDamaged = false,
      ...options
    }: ErrorOptions & { accessRefused?: boolean; isDamaged?: boolean } = {},
  ) {
    super('STREAM_FETCH_FAILED', message, remediation, options);
    this.accessRefused = accessRefused;
    this.isDamaged = isDamaged;
  }
}

/** The platform is playing an advertisement. It ends without intervention and does not count toward `stream_lost`. */
export class StreamPausedError extends StreamFetchError {
  override name = 'StreamPausedError';

  constructor() {
    super('The platform shows an advertisement instead of the stream. Try again in a minute.');
  }
}

/** Mode `clip` or `hybrid` with a model without video. */
export class InvalidInputModeError extends WatchpostError {
  override name = 'InvalidInputModeError';

  constructor(mode: string, model: string) {
    super(
      'INVALID_INPUT_MODE',
      `Input mode ${mode} needs a model that takes video, and ${model} takes images only`,
      'Use input_mode "frames", or configure a model that takes video.',
    );
  }
}

/** Mode `clip` or `hybrid` with a stream of single pictures. */
export class StreamWithoutClipsError extends WatchpostError {
  override name = 'StreamWithoutClipsError';

  constructor(mode: string) {
    super(
      'INVALID_INPUT_MODE',
      `Input mode ${mode} needs a video stream, and this one gives single pictures`,
      'Use input_mode "frames", or the address of a video stream of the camera.',
    );
  }
}

export class MaxJobsReachedError extends WatchpostError {
  override name = 'MaxJobsReachedError';

  constructor(limit: number) {
    super(
      'MAX_JOBS_REACHED',
      'Maximum concurrent jobs reached',
      `You have ${limit} active jobs. Cancel one with DELETE /jobs/{job_id} or wait until one ends.`,
    );
  }
}

/** Missing or invalid key. */
export class UnauthorizedError extends WatchpostError {
  override name = 'UnauthorizedError';

  constructor() {
    super(
      'UNAUTHORIZED',
      'Authentication required',
      'Send the header "Authorization: Bearer <API_KEY>" with a valid key: one space, no quotes.',
    );
  }
}

/** The key of an open event stream was revoked, or has expired after a rotation. */
export class KeyEndedError extends WatchpostError {
  override name = 'KeyEndedError';

  constructor() {
    super(
      'UNAUTHORIZED',
      'The key of this event stream is no longer valid',
      'The job continues. Open GET /jobs/{job_id}/events with a valid key and Last-Event-ID.',
    );
  }
}

/** The caller exceeds the rate limit of synchronous calls. */
export class RateLimitedError extends WatchpostError {
  override name = 'RateLimitedError';
  readonly retryAfterSeconds: number;

  constructor(remediation: string, retryAfterSeconds: number) {
    super('RATE_LIMITED', 'Too many requests', remediation);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The checks of running jobs are late, so the service accepts no further job or watch. */
export class ServiceOverloadedError extends WatchpostError {
  override name = 'ServiceOverloadedError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(
      'SERVICE_OVERLOADED',
      'The service is overloaded',
      `The checks of running jobs are late. Try again in ${retryAfterSeconds} s, cancel a job, or ask the operator for more capacity.`,
    );
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The uploaded image is not a JPEG that the service can decode. */
export class UnreadableFrameError extends WatchpostError {
  override name = 'UnreadableFrameError';

  constructor(remediation: string, options?: ErrorOptions) {
    super('BAD_REQUEST', 'Invalid request', remediation, options);
  }
}

/**
 * The caller's `Idempotency-Key` belongs to another request. A mistake in the request's shape, so it has no code: the
 * edge answers 422.
 */
export class IdempotencyKeyReusedError extends Error {
  constructor() {
    super('The idempotency key belongs to another request');
    this.name = 'IdempotencyKeyReusedError';
  }
}

/** A concurrent request with the same idempotency key was accepted first. Its job can be read. */
export class IdempotencyConflictError extends Error {
  constructor() {
    super('Another request with this idempotency key was accepted first');
    this.name = 'IdempotencyConflictError';
  }
}

export class JobNotFoundError extends WatchpostError {
  override name = 'JobNotFoundError';
  /** `retentionSeconds` is the setting; absent if unknown. */
  constructor(retentionSeconds?: number) {
    super(
      'JOB_NOT_FOUND',
      'Job not found',
      retentionSeconds === undefined
        ? 'Check the job_id. A finished job is removed some time after its end.'
        : `Check the job_id. A finished job is removed ${retentionSeconds} s after its end.`,
    );
  }
}

export class WatchNotFoundError extends WatchpostError {
  override name = 'WatchNotFoundError';

  constructor() {
    super(
      'WATCH_NOT_FOUND',
      'Watch not found',
      'Check the watch_id, or list your watches with GET /watches.',
    );
  }
}

export class AlertNotFoundError extends WatchpostError {
  override name = 'AlertNotFoundError';

  constructor() {
    super(
      'ALERT_NOT_FOUND',
      'Alert not found',
      'Check the alert_id. A closed alert is removed after retention_days of its watch.',
    );
  }
}

/** The configuration of a watch has another version than the caller expects. */
export class PreconditionFailedError extends WatchpostError {
  override name = 'PreconditionFailedError';

  constructor(version: number) {
    super(
      'PRECONDITION_FAILED',
      'The watch was changed since it was read',
      `Read it again with GET /watches/{watch_id}, and send If-Match: "${version}" with your change.`,
    );
  }
}

/** A condition that the watch does not have: a mistake in the request's shape, so the edge answers 422. */
export class UnknownConditionError extends Error {
  readonly known: readonly string[];

  constructor(names: readonly string[]) {
    super('The watch has no such condition');
    this.name = 'UnknownConditionError';
    this.known = names;
  }
}

/**
 * A field whose value this service cannot serve, such as a recipient that the operator does not allow: the edge answers
 * 422.
 */
export class UnservedFieldError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.name = 'UnservedFieldError';
    this.path = path;
  }
}

export class MaxWatchesReachedError extends WatchpostError {
  override name = 'MaxWatchesReachedError';

  constructor(limit: number) {
    super(
      'MAX_WATCHES_REACHED',
      'Maximum number of watches reached',
      `You have ${limit} watches. Delete one with DELETE /watches/{watch_id}, or ask the operator for a higher limit.`,
    );
  }
}

export class JobAlreadyStoppedError extends WatchpostError {
  override name = 'JobAlreadyStoppedError';

  constructor() {
    super(
      'JOB_ALREADY_STOPPED',
      'Job is already stopped',
      'Nothing to do: read its final state with GET /jobs/{job_id}.',
    );
  }
}

/** Valid key without the permission. */
export class ForbiddenError extends WatchpostError {
  override name = 'ForbiddenError';

  constructor(remediation: string) {
    super('FORBIDDEN', 'Access denied', remediation);
  }
}

/** Discovery of cameras on a service that cannot reach their network, or may not. */
export class CamerasUnavailableError extends WatchpostError {
  override name = 'CamerasUnavailableError';

  constructor() {
    super(
      'NOT_FOUND',
      'This service discovers no cameras',
      'Discovery needs a service on one machine whose operator allows the ranges of the cameras (WATCHPOST_ALLOW_RANGES).',
    );
  }
}

/** Transient error of AWS or of the disk: a repetition of the operation is safe. */
export class TransientError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TransientError';
  }
}

/** A disk of this machine is full. */
export class DiskFullError extends TransientError {}

/** This machine had no time for the work. A later attempt is served. */
export class MachineBusyError extends TransientError {
  constructor() {
    super('The machine is busy with other streams');
    this.name = 'MachineBusyError';
  }
}

/** A stored record that cannot be read, or a statement that the database rejects: a defect, which no retry resolves. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}
