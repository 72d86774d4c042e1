import type { Case } from './case.ts';

/**
 * Selects cases whose id contains a text of `only`, or that cover it as a statement; all if `only` is empty. Omits ids
 * of `skip`.
 */
export function choose(
  cases: readonly Case[],
  only: readonly string[],
  skip: readonly string[] = [],
): Case[] {
  return cases.filter(
    ({ id, covers }) =>
      !skip.includes(id) &&
      (only.length === 0 ||
        only.some((text) => (text.startsWith('I-') ? covers.includes(text) : id.includes(text)))),
  );
}
