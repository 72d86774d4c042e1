import type { Context } from 'hono';
import { WatchpostError } from '../../core/errors.ts';
import { exceedsJsonLimits } from '../json-limits.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { ValidationError } from './validation.ts';

/**
 * Reads a JSON body. Throws `ValidationError` for one that is absent, of another content type, not UTF-8,
 * no JSON or too deep;
 * `WatchpostError` for a compressed body; and the errors of `RequestBody.read`.
 */
export async function readJson({ req, var: { readBody } }: Context<AuthEnv>): Promise<unknown> {
  refuseCompressed(req.header('Content-Encoding'));
  const bytes = await readBody();
  if (bytes.length === 0) throw bodyError('missing', 'Field required');
  if (!isJsonType(req.header('Content-Type')))
    throw bodyError('invalid_type', 'Not JSON', 'Send the header "Content-Type: application/json".');
  const text = decode(bytes);
  if (exceedsJsonLimits(text)) throw bodyError('json_invalid', 'Too many levels or values');
  return parse(text);
}

/** Parses a text. The error has the words of the parser but no part of the text, which may hold a password. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw bodyError('json_invalid', error.message.replace(/, (?:\.\.\.)?".*/s, ''));
    throw error;
  }
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
    throw bodyError('json_invalid', 'Invalid UTF-8');
  }
}

function bodyError(type: string, msg: string, remediation?: string): ValidationError {
  const ctx = remediation === undefined ? {} : { ctx: { remediation } };
  return new ValidationError([{ loc: ['body'], type, msg, ...ctx }]);
}
