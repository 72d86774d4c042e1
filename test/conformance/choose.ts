import type { Case } from './case.ts';

/** Cases whose id contains one of the texts, or that cover one of them as a statement; all for none; less those that are called by `skip`. */
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
