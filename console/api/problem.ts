/** Why a request did not succeed, in words for the person who made it: what happened, and what to do next. */
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

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(
    0,
    'CONSOLE_ERROR',
    'Something went wrong in the console',
    'Reload the page. If it comes again, report what the browser console says.',
    { cause: error },
  );
}

export function unreachable(cause: unknown): Problem {
  return new Problem(
    0,
    'UNREACHABLE',
    'Watchpost cannot be reached',
    'Check that the service runs and that you are connected.',
    { cause },
  );
}

/** One of the API's two error bodies, or whatever a proxy in between has answered. */
export async function problemOf(response: Response): Promise<Problem> {
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
    return new Problem(
      response.status,
      'VALIDATION',
      'The request does not fit',
      detail.map(complaint).join(' '),
    );
  return new Problem(
    response.status,
    'ERROR',
    `The service answered ${response.status}`,
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
