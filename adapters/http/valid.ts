import { zValidator } from '@hono/zod-validator';
import type { z } from 'zod';
import { validationError } from './validation.ts';
import type { Location } from './validation.ts';

const locations = { json: 'body', query: 'query', param: 'path' } as const satisfies Record<string, Location>;

/** The schema at a route's door; what does not fit is a `ValidationError`, which the app answers with 422. */
export function valid<Schema extends z.ZodType, Target extends keyof typeof locations>(
  target: Target,
  schema: Schema,
) {
  return zValidator(target, schema, (result) => {
    if (!result.success) throw validationError(result.error.issues, result.data, locations[target]);
  });
}
