import { RequestInvalidError, WatchpostError } from '../../client/errors.ts';
import { readError } from '../../client/transport.ts';

/** Failed request: message and remedy for the person at the console. `status` is 0 if there was no response. */
export class Problem extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly status: number;

  constructor(status: number, code: string, message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** Converts any thrown value to a `Problem`. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof WatchpostError) return fromResponse(error);
  return new Problem(
    0,
    'CONSOLE_ERROR',
    'The console failed',
    'Reload the page. If the error persists, report the output of the browser console.',
    { cause: error },
  );
}

/** Creates the `Problem` for a request without a response. */
export function unreachable(cause: unknown): Problem {
  return new Problem(
    0,
    'UNREACHABLE',
    'Watchpost cannot be reached',
    'Check that the service runs and that this device is connected.',
    { cause },
  );
}

/** Reads the `Problem` of a response whose status is not 2xx: an error envelope, a 422 body, or the page of a proxy. */
export async function toProblem(response: Response): Promise<Problem> {
  return asProblem(await readError(response));
}

function fromResponse(error: WatchpostError): Problem {
  const { status, code, message, remediation } = error;
  if (error instanceof RequestInvalidError)
    return new Problem(status, code, 'Invalid request', error.detail.map(complaint).join(' '));
  if (code === 'UNEXPECTED_ANSWER')
    return new Problem(status, code, `The service returned status ${status}`, 'Try again in a moment.');
  return new Problem(status, code, message, remediation);
}

function complaint({ loc, msg }: RequestInvalidError['detail'][number]): string {
  return `${String(loc.at(-1) ?? '').replaceAll('_', ' ')}: ${msg}.`;
}
