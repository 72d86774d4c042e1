import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { z } from 'zod';
import type { AuthEnv } from './bearer-auth.ts';
import { readJsonBody } from './request-body.ts';
import { validationError } from './validation.ts';

const targets = {
  json: { location: 'body', read: readJsonBody },
  query: { location: 'query', read: async (context: Context<AuthEnv>) => lastOfEach(context.req.queries()) },
  param: { location: 'path', read: async (context: Context<AuthEnv>) => context.req.param() },
} as const;

/** The schema at a route's door; what does not fit is a `ValidationError`, which the app answers with 422. */
export function valid<Schema extends z.ZodType<object>, Target extends keyof typeof targets>(
  target: Target,
  schema: Schema,
) {
  const { location, read } = targets[target];
  type Input = { in: Record<Target, z.input<Schema>>; out: Record<Target, z.output<Schema>> };
  return createMiddleware<AuthEnv, string, Input>(async (context, next) => {
    const data = await read(context);
    const parsed = schema.safeParse(data);
    if (!parsed.success) throw validationError(parsed.error.issues, data, location);
    context.req.addValidatedData(target, parsed.data);
    await next();
  });
}

/** Of a parameter that comes twice the last counts, as in FastAPI. */
function lastOfEach(queries: Record<string, string[]>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(queries).map(([name, values]) => [name, values.at(-1)]));
}
