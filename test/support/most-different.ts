/**
 * Returns the first kinds of a case, which differ most; `npm run simulate -- kinds` takes all of them.
 */
export function mostDifferent<const T>(kinds: readonly T[], count = 2): readonly T[] {
  return process.env['TEST_KINDS'] === 'all' ? kinds : kinds.slice(0, count);
}
