import type { Color } from './colors.ts';
import type { Logic } from './logic.ts';

/** Measurable part of a condition. `parse-condition.ts` documents the grammar. */
export type Atom =
  /** Share of the frame with a color, compared with a number. */
  | {
      kind: 'share';
      color: Color;
      compare: 'at least' | 'more than' | 'at most' | 'less than';
      share: number;
    }
  /** Connected region of a color, of at least this share of the frame. */
  | { kind: 'region'; color: Color; share: number }
  | { kind: 'dark' }
  | { kind: 'bright' }
  /** Frame of a single tone. */
  | { kind: 'blank' }
  /** Motion or change. A single frame cannot show it. */
  | { kind: 'motion' }
  /** Words without a measurable meaning. */
  | { kind: 'unmeasurable' };

/** Parsed condition. */
export type Condition = Logic<Atom>;
