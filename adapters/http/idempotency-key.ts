import { ValidationError } from './validation.ts';

const name = 'Idempotency-Key';

/** The key was used for another request. */
export function idempotencyKeyReused(): ValidationError {
  return new ValidationError([
    {
      loc: ['header', name],
      type: 'value_error',
      msg: 'Value error, this key was used for another request: use a new key, or send that request unchanged',
    },
  ]);
}
