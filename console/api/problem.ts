import { WatchpostError } from '../../client/errors.ts';

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
  if (error instanceof WatchpostError)
    return new Problem(error.status, error.code, error.message, error.remediation, { cause: error });
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

/** Creates a `Problem` from an error envelope, a 422 body, or the error page of a proxy. */
export async function toProblem(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = field(body, 'error');
  const message = text(field(error, 'message'));
  if (message !== undefined)
    return new Problem(
      response.status,
      text(field(error, 'code')) ?? 'ERROR',
      message,
      waitingToo(text(field(error, 'remediation')) ?? '', response),
    );
  const detail = field(body, 'detail');
  if (Array.isArray(detail))
    return new Problem(response.status, 'VALIDATION', 'Invalid request', detail.map(complaint).join(' '));
  return new Problem(
    response.status,
    'ERROR',
    `The service returned status ${response.status}`,
    'Try again in a moment.',
  );
}

function waitingToo(remedy: string, response: Response): string {
  const seconds = response.headers.get('Retry-After');
  return seconds === null ? remedy : `${remedy} Try again in ${seconds} s.`;
}

function complaint(issue: unknown): string {
  const place = field(issue, 'loc');
  const name = Array.isArray(place) ? String(place.at(-1)) : '';
  return `${name.replaceAll('_', ' ')}: ${text(field(issue, 'msg')) ?? 'not valid'}.`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
