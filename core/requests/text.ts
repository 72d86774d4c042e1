import { z } from 'zod';

/**
 * A string of that many characters, counted as Pydantic counts them: in Unicode code points, where JavaScript's length counts an emoji
 * as two. Half of a surrogate pair is no character; no other program could read the text.
 */
export function text(minimum: number, maximum = Infinity) {
  return z
    .string()
    .check((ctx) => {
      const { value, issues } = ctx;
      if (!value.isWellFormed()) {
        issues.push({ code: 'custom', params: { type: notUnicode }, message: 'Not Unicode', input: value });
      } else if (value.length < minimum) {
        issues.push({ code: 'too_small', origin: 'string', minimum, inclusive: true, input: value });
      } else if (isLonger(value, maximum)) {
        issues.push({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: value });
      }
    })
    .meta({ minLength: minimum, ...(maximum === Infinity ? {} : { maxLength: maximum }) });
}

/** In the `params` of the issue about half a surrogate pair. */
export const notUnicode = 'string_unicode';

/** Counts only where the length in UTF-16 does not decide. Minima are 0 or 1, for which it always does. */
function isLonger(value: string, maximum: number): boolean {
  if (value.length <= maximum) return false;
  return value.length > 2 * maximum || Array.from(value).length > maximum;
}
