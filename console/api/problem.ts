import { ConnectionError, RequestInvalidError, WatchpostError } from '../../client/errors.ts';

/** Failed request: message and remedy for the person at the console. `status` is 0 if there was no response. */
export class Problem extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly status: number;
  /** Fields of the request that are refused, by their path in it: `destinations.0.url`. */
  readonly fields: readonly { path: string; text: string }[];

  constructor(
    status: number,
    code: string,
    message: string,
    remedy: string,
    { fields = [], ...options }: ErrorOptions & { fields?: Problem['fields'] } = {},
  ) {
    super(message, options);
    this.name = 'Problem';
    this.status = status;
    this.fields = fields;
    this.code = code;
    this.remedy = remedy;
  }
}

/** Converts any thrown value to a `Problem`. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof WatchpostError) return fromResponse(error);
  if (error instanceof ConnectionError) return unreachable(error);
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

/** Reads an error response: an error envelope, a 422 body, or the page of a proxy. */
function fromResponse(error: WatchpostError): Problem {
  const { status, code, message, remediation } = error;
  if (error instanceof RequestInvalidError) {
    const fields = error.detail.map(({ loc, msg }) => ({ path: loc.slice(1).join('.'), text: inWords(msg) }));
    const remedy = fields.map(({ path, text }) => `${inWords(path)} ${text}`).join(' ');
    return new Problem(status, code, 'A field is not as it should be', remedy, { fields });
  }
  if (code === 'UNEXPECTED_ANSWER')
    return new Problem(status, code, `The service returned status ${status}`, 'Try again in a moment.');
  return new Problem(status, code, message, remediation, { fields: findField(error) });
}

/** Errors of the stream of a request. */
const streamCodes: readonly string[] = ['INVALID_URL', 'NOT_LIVESTREAM', 'STREAM_FETCH_FAILED'];

/** Returns the field of a refused address: the remedy names that of a destination, as `destinations[0].url: …`. */
function findField({ code, message, remediation }: WatchpostError): Problem['fields'] {
  if (!streamCodes.includes(code)) return [];
  const [, path, text = ''] = /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): (.*)$/s.exec(remediation) ?? [];
  if (path === undefined) return [{ path: 'stream_url', text: `${message}. ${remediation}` }];
  return [{ path: path.replaceAll(/\[(\d+)\]/g, '.$1'), text }];
}

/** Names of the API that forms call otherwise. */
const labels = new Map([
  ['confirm_seconds', 'the second look'],
  ['interval_seconds', 'the interval'],
  ['stream_url', 'the stream URL'],
  ['routing_key', 'the integration key'],
]);

/** Returns a text of the API as a sentence for people. */
function inWords(text: string): string {
  const words = text.replaceAll(/\w+/g, (name) => labels.get(name) ?? name.replaceAll('_', ' '));
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?!]$/.test(words) ? '' : '.'}`;
}
