import type { Context } from 'hono';
import { z } from 'zod';
import { didYouMean, findUnknownFields } from '../../core/requests/unknown-fields.ts';
import type { UnknownField } from '../../core/requests/unknown-fields.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { readJsonBody } from './request-body.ts';
import { validationError } from './validation.ts';
import type { ValidationError } from './validation.ts';

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

/** Order of the parts: the first invalid part decides the response. */
const parts = [
  { name: 'parameters', location: 'path' },
  { name: 'query', location: 'query' },
  { name: 'body', location: 'body' },
  { name: 'headers', location: 'header' },
] as const;

/** Schemas of one declaration: only the parts that it declares. */
export type OwnSchemas = Readonly<Record<string, ObjectSchema>>;

/** Declared parts of a request, validated and converted. */
export type RequestParts<Schemas extends OwnSchemas> = z.output<
  z.ZodObject<{ -readonly [Part in keyof Schemas]: Schemas[Part] }>
>;

/** Parts of a valid request, and the fields of its body that no schema has. */
type ReadRequest<Schemas extends OwnSchemas> = { parts: RequestParts<Schemas>; unknown: UnknownField[] };

/**
 * Creates a reader of the declared parts, which throws `ValidationError`. Keep the reader, since Zod compiles a schema at its
 * first use.
 */
export function createRequestReader<Schemas extends OwnSchemas>(
  schemas: Schemas,
): (context: Context<AuthEnv>) => Promise<ReadRequest<Schemas>> {
  const schema = z.object(schemas);
  const bodyFields = Object.keys(schemas['body']?.shape ?? {});
  return async (context) => {
    const received = await receivedParts(context, schemas);
    const parsed = schema.safeParse(received);
    const unknown = findUnknownFields(received.body ?? {}, bodyFields);
    if (parsed.success) return { parts: parsed.data, unknown };
    throw firstPartError(parsed.error.issues, received, unknown);
  };
}

type ReceivedParts = { [Part in keyof RequestSchemas]?: object };

async function receivedParts(context: Context<AuthEnv>, schemas: RequestSchemas): Promise<ReceivedParts> {
  const { req } = context;
  return {
    ...(schemas.parameters && { parameters: req.param() }),
    ...(schemas.query && { query: lastValues(req.queries()) }),
    ...(schemas.headers && { headers: pickHeaders(schemas.headers, (name) => req.header(name)) }),
    ...(schemas.body && { body: await readJsonBody(context) }),
  };
}

/** If a query parameter is repeated, the last value wins (as in FastAPI). */
function lastValues(queries: Record<string, string[]>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(queries).map(([name, values]) => [name, values.at(-1)]));
}

function pickHeaders({ shape }: ObjectSchema, read: (name: string) => string | undefined) {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, read(name)]));
}

function firstPartError(
  issues: readonly z.core.$ZodIssue[],
  received: ReceivedParts,
  unknown: UnknownField[],
): Error {
  const part = parts.find(({ name }) => issues.some(({ path }) => path[0] === name));
  if (!part) return new Error('A request has an issue outside of its parts');
  const own = issues.filter(({ path }) => path[0] === part.name);
  const error = validationError(
    own.map((issue) => ({ ...issue, path: issue.path.slice(1) })),
    received[part.name],
    part.location,
  );
  return part.name === 'body' ? withUnknownFields(error, unknown) : error;
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
