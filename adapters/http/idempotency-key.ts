import { ValidationError } from './validation.ts';

const name = 'Idempotency-Key';

/** Creates the error for a key that another request used. */
export function idempotencyKeyReused(): ValidationError {
  return new ValidationError([
    {
      loc: ['header', name],
      type: 'value_error',
      msg: 'Value error, this key was used for another request: use a new key, or send that request unchanged',
    },
  ]);
}
