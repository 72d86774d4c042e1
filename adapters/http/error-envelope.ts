import { MachineBusyError, TransientError, WatchpostError, type ErrorCode } from '../../core/errors.ts';

/** Status by error code. No other module uses statuses of errors. */
export const statuses = {
  NOT_LIVESTREAM: 400,
  INVALID_URL: 400,
  STREAM_FETCH_FAILED: 400,
  BAD_REQUEST: 400,
  INVALID_INPUT_MODE: 400,
  JOB_ALREADY_STOPPED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  JOB_NOT_FOUND: 404,
  WATCH_NOT_FOUND: 404,
  ALERT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  MAX_JOBS_REACHED: 429,
  MAX_WATCHES_REACHED: 429,
  RATE_LIMITED: 429,
  VLM_ERROR: 500,
  INTERNAL_ERROR: 500,
  SERVICE_OVERLOADED: 503,
} as const satisfies Record<ErrorCode, number>;

export type ErrorEnvelope = { error: { code: ErrorCode; message: string; remediation: string } };

export const errorStatuses: ReadonlySet<number> = new Set(Object.values(statuses));

/** Maps an error to status and body. Unexpected errors reveal no internals. */
export function errorResponse(error: unknown) {
  const described = error instanceof WatchpostError ? error : unexpected(error);
  const body: ErrorEnvelope = {
    error: { code: described.code, message: described.message, remediation: described.remediation },
  };
  return { status: statuses[described.code], body };
}

function unexpected(cause: unknown): WatchpostError {
  const passing = cause instanceof TransientError;
  const isBusy = cause instanceof MachineBusyError;
  return new WatchpostError(
    'INTERNAL_ERROR',
    'Internal server error',
    passing
      ? `Try again with exponential backoff. ${isBusy ? cause.message : 'The service cannot store data at the moment'}.`
      : 'Try again with exponential backoff; if it stays, the operator finds the cause in the logs.',
    { cause },
  );
}
