import type { ErrorCode, ErrorEnvelope, ValidationErrors } from './openapi-types.ts';

/** The codes that may pass: try again with exponential backoff (interface section 7). */
const transientCodes: readonly string[] = [
  'STREAM_FETCH_FAILED',
  'VLM_ERROR',
  'INTERNAL_ERROR',
  'RATE_LIMITED',
];

/** What the service refused. Branch on `code`, not on the message; `remediation` says what to do next. */
export class WatchpostError extends Error {
  override readonly name: string = 'WatchpostError';
  readonly status: number;
  /** One of the documented codes, `VALIDATION_ERROR` for a 422, or `UNEXPECTED_ANSWER` for what is not the service's own answer. */
  readonly code: ErrorCode | 'VALIDATION_ERROR' | 'UNEXPECTED_ANSWER';
  readonly remediation: string;
  /** From `Retry-After`, where the service said it. */
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.remediation = refusal.remediation;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }

  /** Whether the same request may succeed a little later. */
  get retryable(): boolean {
    if (this.code !== 'UNEXPECTED_ANSWER') return transientCodes.includes(this.code);
    // Of a proxy or a firewall in between.
    return this.status >= 500 || this.status === 429;
  }
}

/** A request with fields that are missing or out of range; nothing was done. */
export class RequestInvalidError extends WatchpostError {
  override readonly name = 'RequestInvalidError';
  readonly detail: ValidationErrors['detail'];

  constructor(status: number, detail: ValidationErrors['detail']) {
    super({
      status,
      code: 'VALIDATION_ERROR',
      message: detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
      remediation: 'Mend the named fields.',
      retryAfterSeconds: undefined,
    });
    this.detail = detail;
  }
}

/** The service could not be reached, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly retryable = true;
}

type Refusal = {
  status: number;
  code: WatchpostError['code'];
  message: string;
  remediation: string;
  retryAfterSeconds: number | undefined;
};

/** The error that an answer stands for, whatever its body turned out to be. */
export function errorOf(status: number, body: unknown, retryAfter: string | null): WatchpostError {
  if (isValidation(body)) return new RequestInvalidError(status, body.detail);
  const retryAfterSeconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (isEnvelope(body)) return new WatchpostError({ ...body.error, status, retryAfterSeconds });
  return new WatchpostError({
    status,
    code: 'UNEXPECTED_ANSWER',
    message: `HTTP ${status} with a body that is not the service's`,
    remediation: 'Check the base URL (it ends in /api), and what stands between you and the service.',
    retryAfterSeconds,
  });
}

function isEnvelope(body: unknown): body is ErrorEnvelope {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

function isValidation(body: unknown): body is ValidationErrors {
  return typeof body === 'object' && body !== null && 'detail' in body && Array.isArray(body.detail);
}
