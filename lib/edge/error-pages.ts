import { errorResponse, type ErrorEnvelope } from '../../adapters/http/error-envelope.ts';
import { WatchpostError } from '../../core/errors.ts';

/** File below `console/` with the envelope of a status. */
type ErrorPage = { status: number; file: string; envelope: ErrorEnvelope };

/**
 * Pages that CloudFront returns instead of its own answers and those of API Gateway and Lambda. They replace every
 * response of their status, so only statuses are listed that the service never returns: a test compares them with the
 * statuses of its errors.
 */
export const errorPages: readonly ErrorPage[] = [
  page(414, new WatchpostError('BAD_REQUEST', 'Invalid request', 'Shorten the URL: it may have 8192 bytes.')),
  ...[502, 503].map((status) =>
    page(status, internal('Try again with exponential backoff. The service is restarting or at capacity.')),
  ),
  page(
    504,
    internal(
      'The response took too long. If the request starts a job, read GET /jobs first: the job may exist. Then try again with exponential backoff.',
    ),
  ),
];

export const pagedStatuses: readonly number[] = errorPages.map(({ status }) => status);

/** Returns the name of a page below `console/`. */
export function errorPageFile(status: number): string {
  return `errors/${status}.json`;
}

function page(status: number, error: WatchpostError): ErrorPage {
  return { status, file: errorPageFile(status), envelope: errorResponse(error).body };
}

function internal(remediation: string): WatchpostError {
  return new WatchpostError('INTERNAL_ERROR', 'Internal server error', remediation);
}
