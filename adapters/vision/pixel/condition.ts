import type { Colour } from './colours.ts';

/** What can be asked of pixels. `parse-condition.ts` documents the words for it. */
export type Atom =
  /** The share of the picture that a colour has, by number. */
  | {
      kind: 'share';
      colour: Colour;
      compare: 'at least' | 'more than' | 'at most' | 'less than';
      share: number;
    }
  /** A connected region of a colour of at least this share of the picture. */
  | { kind: 'region'; colour: Colour; share: number }
  | { kind: 'dark' }
  | { kind: 'bright' }
  /** A picture of one tone. */
  | { kind: 'blank' }
  /** Something moves or changes. One picture cannot show it. */
  | { kind: 'motion' }
  /** Words that name nothing a pixel could show. */
  | { kind: 'unmeasurable' };

export type Condition =
  Atom | { kind: 'not'; of: Condition } | { kind: 'all'; of: Condition[] } | { kind: 'any'; of: Condition[] };

export function atomsOf(condition: Condition): Atom[] {
  switch (condition.kind) {
    case 'not':
      return atomsOf(condition.of);
    case 'all':
    case 'any':
      return condition.of.flatMap(atomsOf);
    default:
      return [condition];
  }
}
