import { zValidator } from '@hono/zod-validator';
import type { Hook } from '@hono/zod-validator';
import type { Context, Input, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';
import { didYouMean, findUnknownFields } from '../../core/requests/unknown-fields.ts';
import type { UnknownField } from '../../core/requests/unknown-fields.ts';
import type { AuthEnv } from './bearer-auth.ts';
import { jsonSyntaxError, readJsonText, requireObject } from './request-body.ts';
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

/** Schemas of one declaration: only the parts that it declares. */
export type OwnSchemas = Readonly<Record<string, ObjectSchema>>;

/** Declared parts of a request, validated and converted. */
export type RequestParts<Schemas extends OwnSchemas> = z.output<
  z.ZodObject<{ -readonly [Part in keyof Schemas]: Schemas[Part] }>
>;

/**
 * Returns the middleware that validates the declared parts and sets `parts`. The first invalid part decides the response: it throws
 * `ValidationError`.
 */
export function validateRequest(schemas: RequestSchemas): MiddlewareHandler<AuthEnv>[] {
  const { parameters, query, body, headers } = schemas;
  return [
    ...(body ? [readBody()] : []),
    ...(parameters ? [validatePart({ name: 'parameters', schema: parameters })] : []),
    ...(query ? [validatePart({ name: 'query', schema: query, prepare: lastValues })] : []),
    ...(body ? [validateBody(body)] : []),
    ...(headers ? [validatePart({ name: 'headers', schema: headers, prepare: pickDeclared(headers) })] : []),
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
  parts: unknown,
  schemas: Schemas,
): parts is RequestParts<Schemas> {
  const known = Object.keys(parts ?? {});
  return Object.keys(schemas).every((name) => known.includes(name));
}

type Received = Record<string, unknown>;

type Part = {
  name: keyof typeof targets;
  schema: ObjectSchema;
  /** Converts what Hono has read. */
  prepare?: (received: Received) => Received;
};

/** Parts by their name in Hono, and in the `loc` of an error. */
const targets = {
  parameters: { target: 'param', location: 'path' },
  query: { target: 'query', location: 'query' },
  body: { target: 'json', location: 'body' },
  headers: { target: 'header', location: 'header' },
} as const;

type PartHook = Hook<Received, AuthEnv, string, Target, {}, ObjectSchema>;
type Target = (typeof targets)[keyof typeof targets]['target'];

/** Creates a validator that sets a valid part, and throws the error of an invalid one in the words of the interface. */
function validatePart({ name, schema, prepare = (received) => received }: Part): MiddlewareHandler<AuthEnv> {
  const { target, location } = targets[name];
  const keep: PartHook = (result, context) => {
    if (!result.success) {
      const error = validationError(result.error.issues, prepare(result.data), location);
      throw name === 'body' ? withUnknownFields(error, context.get('unknown') ?? []) : error;
    }
    context.set('parts', { ...context.get('parts'), [name]: result.data });
  };
  return zValidator<
    ObjectSchema,
    Target,
    AuthEnv,
    string,
    PartHook,
    Received,
    Received,
    Input,
    Input,
    Received
  >(
    target,
    schema,
    keep,
    // Zod compiles schemas for synchronous validation only.
    { validationFunction: (_, received: Received) => schema.safeParse(prepare(received)) },
  );
}

/** If a query parameter is repeated, the last value wins (as in FastAPI). */
function lastValues(queries: Received): Received {
  return Object.fromEntries(
    Object.entries(queries).map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value]),
  );
}

/** Omits other headers: an error may repeat what was sent, and these have credentials. */
function pickDeclared({ shape }: ObjectSchema) {
  return (headers: Received): Received =>
    Object.fromEntries(Object.keys(shape).map((name) => [name, headers[name]]));
}

/** Reads the body within its limits, before anything else is validated. The validator parses what Hono has cached. */
function readBody() {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const text = await readJsonText(context);
    Object.assign(context.req.bodyCache, { text: Promise.resolve(text) });
    await next();
  });
}

/** Validates the body and sets `unknown`. */
function validateBody(schema: ObjectSchema) {
  const fields = Object.keys(schema.shape);
  return createMiddleware<AuthEnv>(async (context, next) => {
    const prepare = (received: Received) => {
      requireObject(received);
      context.set('unknown', findUnknownFields(received, fields));
      return received;
    };
    try {
      return await validatePart({ name: 'body', schema, prepare })(context, next);
    } catch (error) {
      throw error instanceof HTTPException ? jsonSyntaxError(await context.req.text()) : error;
    }
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
