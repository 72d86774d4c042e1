import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { z } from 'zod';
import { didYouMean, findUnknownFields, type UnknownField } from '../../core/requests/unknown-fields.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { WatchpostError } from '../../core/errors.ts';
import { exceedsJsonLimits } from '../json-limits.ts';
import { maskUrl } from '../../core/stream/mask-url.ts';
import { redact } from '../../core/observability/redact.ts';

/** Schema type without `any`, which Zod's default has. */
export type ObjectSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Schemas of the parts of a request; an endpoint reads only the parts that it declares. */
export type RequestSchemas = {
  parameters?: ObjectSchema;
  query?: ObjectSchema;
  body?: ObjectSchema;
  /** Headers by their names on the wire. */
  headers?: ObjectSchema;
};

/** Schemas of one declaration: only the parts that it declares. */
export type OwnSchemas = Readonly<Record<string, ObjectSchema>>;

/** Declared parts of a request, validated and converted. */
export type RequestParts<Schemas extends OwnSchemas> = z.output<
  z.ZodObject<{ -readonly [Part in keyof Schemas]: Schemas[Part] }>
>;

/**
 * Returns the middleware that validates the declared parts and sets `parts`, and `unknown` for a body. The first
 * invalid part decides the response: it throws `ValidationError`.
 */
export function validateRequest({
  parameters,
  query,
  body,
  headers,
}: RequestSchemas): MiddlewareHandler<AuthEnv>[] {
  return [
    ...(body ? [parseBody()] : []),
    ...(parameters ? [validatePart('parameters', parameters)] : []),
    ...(query ? [validatePart('query', query)] : []),
    ...(body ? [validatePart('body', body)] : []),
    ...(headers ? [validatePart('headers', headers)] : []),
  ];
}

/** Returns the parts that `validateRequest` has set. Throws if a declared part is missing. */
export function validParts<Schemas extends OwnSchemas>(
  { var: { parts } }: Context<AuthEnv>,
  schemas: Schemas,
): RequestParts<Schemas> {
  if (!hasParts(parts, schemas)) throw new Error('A declared part of a request was not validated');
  return parts;
}

function hasParts<Schemas extends OwnSchemas>(
  parts: object | undefined,
  schemas: Schemas,
): parts is RequestParts<Schemas> {
  return Object.keys(schemas).every((name) => parts && name in parts);
}

/** Parts by their name in Hono, and in the `loc` of an error. */
const targets = {
  parameters: { target: 'param', location: 'path' },
  query: { target: 'query', location: 'query' },
  body: { target: 'json', location: 'body' },
  headers: { target: 'header', location: 'header' },
} as const;

function validatePart(name: keyof typeof targets, schema: ObjectSchema): MiddlewareHandler<AuthEnv> {
  const { target, location } = targets[name];
  const isQuery = name === 'query';
  const received = isQuery ? z.preprocess(takeLastValues, schema) : schema;
  return zValidator(target, received, async (result, context: Context<AuthEnv>) => {
    const unknown =
      name === 'body' ? findUnknownFields(await context.req.json(), Object.keys(schema.shape)) : [];
    if (!result.success) {
      const data = isQuery ? takeLastValues(result.data) : result.data;
      throw withUnknownFields(validationError(result.error.issues, data, location), unknown);
    }
    if (name === 'body') context.set('unknown', unknown);
    context.set('parts', { ...context.get('parts'), [name]: result.data });
  });
}

/** Takes the last value of a query parameter that is repeated (as in FastAPI). */
function takeLastValues(received: unknown): unknown {
  if (typeof received !== 'object' || received === null) return received;
  return Object.fromEntries(
    Object.entries(received).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]),
  );
}

/** Reads the body within its limits, before anything else is validated. The validator takes what is parsed here. */
function parseBody() {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const body = await readJson(context);
    Object.assign(context.req, { json: async () => body });
    await next();
  });
}

/** Adds to each missing field what was sent instead, so that a misspelled name is seen. */
function withUnknownFields(error: ValidationError, unknown: UnknownField[]): ValidationError {
  if (unknown.length === 0) return error;
  const missing = error.detail.filter(({ type }) => type === 'missing');
  for (const detail of missing) {
    const field = String(detail.loc.at(-1));
    const meant = unknown.find(({ suggestions }) => suggestions.includes(field));
    const only = missing.length === 1 && unknown.length === 1 ? unknown[0] : undefined;
    const sent = meant ?? only;
    const names = unknown.map(({ name }) => name).join(', ');
    detail.ctx = {
      remediation:
        sent === undefined
          ? `Send ${field}. This request has no field ${names}.`
          : `This request has no field ${sent.name}; ${didYouMean([field])}`,
    };
  }
  return error;
}

/**
 * Reads a JSON body. Throws `ValidationError` for one that is absent, of another content type, not UTF-8, no JSON or
 * too deep; `WatchpostError` for a compressed body; and the errors of `RequestBody.read`.
 */
async function readJson({ req, var: { readBody } }: Context<AuthEnv>): Promise<unknown> {
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
