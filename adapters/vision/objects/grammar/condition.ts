import type { UnjudgedPart } from '../../../../core/ports/vision-model.ts';
import type { Atom } from '../../pixel/condition.ts';
import type { Color } from '../../pixel/colors.ts';
import type { Logic } from '../../pixel/logic.ts';
import type { ObjectClass } from '../classes.ts';

/** Number of objects of some classes, at least or at most `count`. Of a color if `colors` is not empty: one of them. */
export type ObjectsAtom = {
  kind: 'objects';
  classes: readonly ObjectClass[];
  compare: 'at least' | 'at most';
  count: number;
  colors: readonly Color[];
};

/** Condition of the object model: objects, and what the pixel model measures. */
export type ObjectCondition = Logic<ObjectsAtom | Atom>;

/** Reading of a sentence. */
export type Reading = {
  /** Null if nothing in the sentence can be judged. */
  condition: ObjectCondition | null;
  /** Parts that are not judged, as written. */
  notJudged: UnjudgedPart[];
};
