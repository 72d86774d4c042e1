import type { Context } from 'hono';
import { idempotencyKey } from '../../core/requests/fields.ts';
import { ValidationError, validationError } from './validation.ts';

const name = 'Idempotency-Key';

/** The caller's key for this creation; undefined where there is none. Throws `ValidationError`. */
export function idempotencyKeyOf({ req }: Context): string | undefined {
  const key = req.header(name);
  if (key === undefined) return undefined;
  const parsed = idempotencyKey.safeParse(key);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [name] }));
  throw validationError(issues, { [name]: key }, 'header');
}

/** The key was used for another request. */
export function keyReused(): ValidationError {
  return new ValidationError([
    {
      loc: ['header', name],
      type: 'value_error',
      msg: 'Value error, this key was used for another request: use a new key, or send that request unchanged',
    },
  ]);
}
