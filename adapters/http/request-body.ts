import type { Context } from 'hono';
import { WatchpostError } from '../../core/errors.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { findJsonExcess } from './json-limits.ts';
import { findJsonParseIssue } from './json-parse-issue.ts';
import { ValidationError } from './validation.ts';

/**
 * Reads the text of a JSON body, with FastAPI's errors for one that is absent, of another content type, not UTF-8, or too deep. Throws
 * `ValidationError`, `WatchpostError` for a compressed body, and the errors of `RequestBody.read`.
 */
export async function readJsonText({ req, var: { readBody } }: Context<AuthEnv>): Promise<string> {
  refuseCompressed(req.header('Content-Encoding'));
  const bytes = await readBody();
  if (bytes.length === 0)
    throw new ValidationError([{ loc: ['body'], type: 'missing', msg: 'Field required', input: null }]);
  if (!isJsonType(req.header('Content-Type')))
    throw notAnObject('Send the header "Content-Type: application/json".');
  const text = decode(bytes);
  const excess = findJsonExcess(text);
  if (excess !== undefined) throw jsonInvalid(excess, 'Too many levels or values');
  return text;
}

/** Throws `ValidationError` for a JSON value that is no object. */
export function requireObject(value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
}

/** Creates FastAPI's error for a text that is not JSON. */
export function jsonSyntaxError(text: string): ValidationError {
  const { position, reason } = findJsonParseIssue(text);
  return jsonInvalid(position, reason);
}

/** Rejects compressed bodies: a small request could expand to a large one, and frames are compressed already. */
function refuseCompressed(encoding: string | undefined): void {
  if (['', 'identity'].includes(encoding?.trim().toLowerCase() ?? '')) return;
  throw new WatchpostError(
    'BAD_REQUEST',
    'Invalid request',
    'Send the body uncompressed, without the header Content-Encoding.',
  );
}

/** The same media types as those of Hono's validator, which would ignore the body of any other. */
function isJsonType(contentType: string | undefined): boolean {
  const mediaType = contentType?.split(';', 1)[0]?.trim() ?? '';
  return /^application\/([\w.-]+\+)?json$/i.test(mediaType);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw jsonInvalid(firstMalformed(bytes), 'Invalid UTF-8');
  }
}

/** Returns the position of the first invalid UTF-8 byte. */
function firstMalformed(bytes: Uint8Array): number {
  const lenient = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  return bytes.findIndex((byte, at) => byte !== lenient[at]);
}

function jsonInvalid(position: number, reason: string): ValidationError {
  return new ValidationError([
    {
      loc: ['body', position],
      type: 'json_invalid',
      msg: 'JSON decode error',
      input: {},
      ctx: { error: reason },
    },
  ]);
}

/** Creates FastAPI's error, with the next step if it is not obvious. */
function notAnObject(remediation?: string): ValidationError {
  return new ValidationError([
    {
      loc: ['body'],
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
      ...(remediation !== undefined && { ctx: { remediation } }),
    },
  ]);
}
