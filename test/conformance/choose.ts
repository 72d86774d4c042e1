import type { Case } from './case.ts';

/** Cases whose id contains one of the texts, or that cover one of them as a statement; all for none. */
export function choose(cases: readonly Case[], only: readonly string[]): Case[] {
  return cases.filter(
    ({ id, covers }) =>
      only.length === 0 ||
      only.some((text) => (text.startsWith('I-') ? covers.includes(text) : id.includes(text))),
  );
}
