import type { z } from 'zod';
import { maskUrl } from '../../core/stream/mask-url.ts';
import { redact } from '../../core/observability/redact.ts';

const echoedCharacters = 200;
/** Maximum length that is searched for credentials, in characters; long enough for a whole credential. */
const readCharacters = 1000;
const neverEchoed = new Set(['frame_b64', 'api_key', 'authorization', 'password']);

/**
 * Returns the part of an input that an error response can repeat: no frames, keys or credentials in URLs, and no long
 * text.
 */
function redactInput(value: unknown): unknown {
  if (typeof value === 'string') return echoText(value);
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !neverEchoed.has(name));
  return Object.fromEntries(
    entries
      .slice(0, 30)
      .map(([name, inner]) => [name, typeof inner === 'object' && inner !== null ? {} : redactInput(inner)]),
  );
}

/** Returns the part of the value of a field that an error response can repeat. */
function redactInputField(name: string | number | undefined, value: unknown): unknown {
  return neverEchoed.has(String(name)) ? null : redactInput(value);
}

function echoText(value: string): string {
  const masked = redact(maskUrl(value.slice(0, readCharacters)));
  const shown = mayHoldPassword(masked.replaceAll('***@', '')) ? '***' : masked;
  return shown.length > echoedCharacters ? `${shown.slice(0, echoedCharacters).toWellFormed()}…` : shown;
}

/** Credentials in text that does not parse as a URL: `user:password@host`, `rtsp://user:pass?word@host`. */
function mayHoldPassword(text: string): boolean {
  const colon = text.indexOf(':');
  return colon >= 0 && text.lastIndexOf('@') > colon;
}

/** Entry of the 422 body (I-2.9.1): Zod's code and words. */
export type ValidationDetail = {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
};

export type Location = 'body' | 'query' | 'path' | 'header';

/** Request that does not fit its schema; the app responds with 422. */
export class ValidationError extends Error {
  readonly detail: ValidationDetail[];

  constructor(detail: ValidationDetail[]) {
    super('The request does not fit the schema');
    this.name = 'ValidationError';
    this.detail = detail;
  }
}

/** Limit that keeps the response small for a large invalid array. */
const maxDetails = 50;

/** Converts Zod's issues. `data` is the value that was validated. */
export function validationError(
  issues: readonly z.core.$ZodIssue[],
  data: unknown,
  location: Location,
): ValidationError {
  return new ValidationError(issues.slice(0, maxDetails).map((issue) => toDetail(issue, data, location)));
}

function toDetail(
  { path, code, message }: z.core.$ZodIssue,
  data: unknown,
  location: Location,
): ValidationDetail {
  const fields = path.filter((part) => typeof part !== 'symbol');
  const input = valueAt(data, fields);
  const loc = [location, ...fields];
  if (input === undefined) return { loc, type: 'missing', msg: 'Field required' };
  return { loc, type: code, msg: message, input: redactInputField(fields.at(-1), input) };
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), data);
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}
