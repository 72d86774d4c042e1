import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { ObjectClass } from '../objects/classes.ts';
import type { Color } from '../pixel/colors.ts';
import type { Logic } from './logic.ts';

/** Measurable part of a condition. */
export type Measurement =
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

/** Number of objects of some classes, at least or at most `count`. Of a color if `colors` is not empty: one of them. */
export type ObjectsAtom = {
  kind: 'objects';
  classes: readonly ObjectClass[];
  compare: 'at least' | 'at most';
  count: number;
  colors: readonly Color[];
};

/** Condition of measurements only, which pixels decide. */
export type PixelCondition = Logic<Measurement>;
/** Parsed condition. `parse-condition.ts` documents the grammar. */
export type Condition = Logic<ObjectsAtom | Measurement>;

/** Reading of a sentence. */
export type Reading<Of = Condition> = {
  /** Null if nothing in the sentence can be judged. */
  condition: Of | null;
  /** Parts that are not judged, as written. */
  notJudged: UnjudgedPart[];
};
