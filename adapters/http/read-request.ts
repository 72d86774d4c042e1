import type { Context } from 'hono';
import { z } from 'zod';
import type { AuthEnv } from './bearer-auth.ts';
import { readJsonBody } from './request-body.ts';
import { validationError } from './validation.ts';

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

/**
 * Creates a reader of the declared parts, which throws `ValidationError`. Keep the reader, since Zod compiles a schema at its
 * first use.
 */
export function createRequestReader<Schemas extends OwnSchemas>(
  schemas: Schemas,
): (context: Context<AuthEnv>) => Promise<RequestParts<Schemas>> {
  const schema = z.object(schemas);
  return async (context) => {
    const received = await receivedParts(context, schemas);
    const parsed = schema.safeParse(received);
    if (parsed.success) return parsed.data;
    throw firstPartError(parsed.error.issues, received);
  };
}

async function receivedParts(
  context: Context<AuthEnv>,
  schemas: RequestSchemas,
): Promise<Record<string, unknown>> {
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

function firstPartError(issues: readonly z.core.$ZodIssue[], received: Record<string, unknown>): Error {
  const part = parts.find(({ name }) => issues.some(({ path }) => path[0] === name));
  if (!part) return new Error('A request has an issue outside of its parts');
  const own = issues.filter(({ path }) => path[0] === part.name);
  return validationError(
    own.map((issue) => ({ ...issue, path: issue.path.slice(1) })),
    received[part.name],
    part.location,
  );
}
