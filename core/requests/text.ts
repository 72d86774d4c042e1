import { z } from 'zod';

/**
 * Returns the schema of a string with a length in Unicode code points. (JavaScript counts an emoji as two.) Rejects
 * an unpaired surrogate, because other programs cannot decode it.
 */
export function text(minimum: number, maximum = Infinity) {
  return z
    .string()
    .check((ctx) => {
      const { value, issues } = ctx;
      if (!value.isWellFormed()) {
        issues.push({ code: 'custom', message: 'Not Unicode', input: value });
      } else if (value.length < minimum) {
        issues.push({ code: 'too_small', origin: 'string', minimum, inclusive: true, input: value });
      } else if (isLonger(value, maximum)) {
        issues.push({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: value });
      }
    })
    .meta({ minLength: minimum, ...(maximum === Infinity ? {} : { maxLength: maximum }) });
}

/** Counts code points only if the UTF-16 length does not decide. For the minima 0 and 1 it always decides. */
function isLonger(value: string, maximum: number): boolean {
  if (value.length <= maximum) return false;
  return value.length > 2 * maximum || Array.from(value).length > maximum;
}
