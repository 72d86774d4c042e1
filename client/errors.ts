import type { ErrorCode, ErrorEnvelope, ValidationErrors } from './openapi-types.ts';

/** Codes of transient errors, to be retried with exponential backoff. */
const transientCodes: readonly string[] = [
  'STREAM_FETCH_FAILED',
  'VLM_ERROR',
  'INTERNAL_ERROR',
  'RATE_LIMITED',
  'SERVICE_OVERLOADED',
];

/** Error response of the service. Branch on `code`, not on the message; `remediation` is the next step. */
export class WatchpostError extends Error {
  override readonly name: string = 'WatchpostError';
  readonly status: number;
  /** Documented code, `VALIDATION_ERROR` for a 422, or `UNEXPECTED_ANSWER` for a body that is not from the service. */
  readonly code: ErrorCode | 'VALIDATION_ERROR' | 'UNEXPECTED_ANSWER';
  readonly remediation: string;
  /** Value of `Retry-After`, in seconds; undefined if the response has none. */
  readonly retryAfterSeconds: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.remediation = refusal.remediation;
    this.retryAfterSeconds = refusal.retryAfterSeconds;
  }

  /** True for a transient error: the same request may succeed later. */
  get retryable(): boolean {
    if (this.code !== 'UNEXPECTED_ANSWER') return transientCodes.includes(this.code);
    // The response is from a proxy or firewall.
    return this.status >= 500 || this.status === 429;
  }
}

/** Rejected request: `detail` lists missing and invalid fields. The service did nothing. */
export class RequestInvalidError extends WatchpostError {
  override readonly name = 'RequestInvalidError';
  readonly detail: ValidationErrors['detail'];

  constructor(status: number, detail: ValidationErrors['detail']) {
    super({
      status,
      code: 'VALIDATION_ERROR',
      message: detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
      remediation: detail.flatMap(readRemediation)[0] ?? 'Fix the fields listed in `detail`.',
      retryAfterSeconds: undefined,
    });
    this.detail = detail;
  }
}

/** Reads the remediation of a detail, which few have. */
function readRemediation({ ctx }: ValidationErrors['detail'][number]): string[] {
  const text = ctx?.['remediation'];
  return typeof text === 'string' ? [text] : [];
}

/** Unreachable service or broken connection. */
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

/** Converts an error response to an error, for any body. `retryAfter` is the header; only whole seconds count. */
export function toError(status: number, body: unknown, retryAfter: string | null): WatchpostError {
  if (isValidation(body)) return new RequestInvalidError(status, body.detail);
  const retryAfterSeconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (isErrorEnvelope(body)) return new WatchpostError({ ...body.error, status, retryAfterSeconds });
  return new WatchpostError({
    status,
    code: 'UNEXPECTED_ANSWER',
    message: `HTTP ${status} with an unexpected body`,
    remediation: 'Check the base URL (it ends in /api), and any proxy between this client and the service.',
    retryAfterSeconds,
  });
}

export function isErrorEnvelope(body: unknown): body is ErrorEnvelope {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
}

function isValidation(body: unknown): body is ValidationErrors {
  return typeof body === 'object' && body !== null && 'detail' in body && Array.isArray(body.detail);
}
