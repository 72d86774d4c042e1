import type { UnknownConditionError } from '../../core/errors.ts';
import { ValidationError } from './validation.ts';

/** Creates the error for a `condition_id` that the watch does not have. */
export function unknownCondition({ known }: UnknownConditionError): ValidationError {
  const names = known.map((id) => `'${id}'`).join(', ');
  return new ValidationError([
    { loc: ['body', 'condition_id'], type: 'value_error', msg: `Value error, use one of ${names}` },
  ]);
}
