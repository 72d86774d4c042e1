import * as errors from '../../core/errors.ts';
import { VisionError } from '../../core/vision-errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { errorResponse } from '../http/error-envelope.ts';

/** Example of each error code, with its HTTP status. */

const { WatchpostError } = errors;

const examples: Record<ErrorCode, errors.WatchpostError> = {
  NOT_LIVESTREAM: new errors.NotLiveError('Give the URL of a broadcast that is live now.'),
  INVALID_URL: new errors.InvalidUrlError('Use an http, https or rtsp URL.'),
  STREAM_FETCH_FAILED: new errors.StreamFetchError(
    'Check that the stream is up, and try again with exponential backoff.',
  ),
  BAD_REQUEST: new WatchpostError(
    'BAD_REQUEST',
    'Invalid request',
    'Send the frame as base64 of a JPEG, without a data: prefix.',
  ),
  INVALID_INPUT_MODE: new errors.InvalidInputModeError('clip', 'a model of images'),
  UNAUTHORIZED: new errors.UnauthorizedError(),
  FORBIDDEN: new WatchpostError('FORBIDDEN', 'Access denied', 'Use a key that has the scope.'),
  NOT_FOUND: new WatchpostError('NOT_FOUND', 'Not found', 'Check the path.'),
  JOB_NOT_FOUND: new errors.JobNotFoundError(3600),
  JOB_ALREADY_STOPPED: new errors.JobAlreadyStoppedError(),
  WATCH_NOT_FOUND: new errors.WatchNotFoundError(),
  ALERT_NOT_FOUND: new errors.AlertNotFoundError(),
  PRECONDITION_FAILED: new errors.PreconditionFailedError(4),
  MAX_WATCHES_REACHED: new errors.MaxWatchesReachedError(25),
  METHOD_NOT_ALLOWED: new WatchpostError(
    'METHOD_NOT_ALLOWED',
    'Method not allowed',
    'Use a method of the Allow header.',
  ),
  PAYLOAD_TOO_LARGE: new WatchpostError(
    'PAYLOAD_TOO_LARGE',
    'Request body is too large',
    'Send at most 32 kB.',
  ),
  REQUEST_TIMEOUT: new WatchpostError(
    'REQUEST_TIMEOUT',
    'Request body did not arrive in time',
    'Send the body without pauses of 10 s or longer.',
  ),
  MAX_JOBS_REACHED: new errors.MaxJobsReachedError(10),
  SERVICE_OVERLOADED: new errors.ServiceOverloadedError(30),
  RATE_LIMITED: new WatchpostError('RATE_LIMITED', 'Too many requests', 'Try again later.'),
  VLM_ERROR: new VisionError('Try again with exponential backoff.'),
  INTERNAL_ERROR: new WatchpostError(
    'INTERNAL_ERROR',
    'Internal server error',
    'Try again with exponential backoff; if it stays, the operator finds the cause in the logs.',
  ),
};

export function errorStatus(code: ErrorCode): number {
  return errorResponse(examples[code]).status;
}

/** Returns a reference to the example of a code in the document's components. */
export function errorExample(code: ErrorCode) {
  return { $ref: `#/components/examples/${code}` };
}

/** Examples by code, for the document's components. */
export function errorExamples(codes: Iterable<ErrorCode>): Record<string, object> {
  return Object.fromEntries(
    [...codes].map((code) => [
      code,
      { summary: examples[code].message, value: errorResponse(examples[code]).body },
    ]),
  );
}

export const invalidRequest = {
  detail: [
    {
      loc: ['body', 'stream_url'],
      msg: 'Field required',
      type: 'missing',
    },
  ],
};
