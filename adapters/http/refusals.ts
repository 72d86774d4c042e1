import { IdempotencyKeyReusedError, UnknownConditionError, UnservedFieldError } from '../../core/errors.ts';
import { ValidationError } from './validation.ts';

/** Converts an error to a 422: an invalid request, also if only the stored state or the deployment refuses it. Returns undefined for others. */
export function toValidationError(error: Error): ValidationError | undefined {
  if (error instanceof ValidationError) return error;
  if (error instanceof UnservedFieldError) return refuse(['body', ...error.path], error.message);
  if (error instanceof UnknownConditionError)
    return refuse(['body', 'condition_id'], `use one of ${error.known.map((id) => `'${id}'`).join(', ')}`);
  if (error instanceof IdempotencyKeyReusedError)
    return refuse(
      ['header', 'Idempotency-Key'],
      'this key was used for another request: use a new key, or send that request unchanged',
    );
  return undefined;
}

function refuse(loc: (string | number)[], reason: string): ValidationError {
  return new ValidationError([{ loc, type: 'value_error', msg: `Value error, ${reason}` }]);
}
