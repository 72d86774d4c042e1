import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { ObjectClass } from '../objects/classes.ts';
import type { Color } from '../pixel/colors.ts';

/** Condition as parts that are decided one by one, joined by logic. */
export type Logic<Part> =
  | Part
  | { kind: 'not'; part: Logic<Part> }
  | { kind: 'all'; parts: Logic<Part>[] }
  | { kind: 'any'; parts: Logic<Part>[] };

/** Part of a condition that is measured in the whole picture. */
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
  | { kind: 'dark' | 'bright' }
  /** Frame of a single tone. */
  | { kind: 'blank' }
  /** Motion or change. A single frame cannot show it. */
  | { kind: 'motion' }
  /** Words that are not judged. */
  | { kind: 'unmeasurable' };

/** Number of objects of some classes, at least or at most `count`. Of a color if `colors` is not empty: one of them. */
export type ObjectsAtom = {
  kind: 'objects';
  classes: readonly ObjectClass[];
  compare: 'at least' | 'at most';
  count: number;
  colors: readonly Color[];
};

/** Parsed condition. `parse-condition.ts` documents the grammar. */
export type Condition = Logic<ObjectsAtom | Measurement>;

/** Reading of a sentence: its condition, `null` if nothing in it can be judged, and the parts that are not judged. */
export type Reading = { condition: Condition | null; notJudged: UnjudgedPart[] };

/** Decides a condition in three-valued logic. Returns null if the undecided parts decide it. */
export function decide<Part extends { kind: string }>(
  condition: Logic<Part>,
  decidePart: (part: Part) => boolean | null,
): boolean | null {
  if (isPart(condition)) return decidePart(condition);
  if (condition.kind === 'not') return not(decide(condition.part, decidePart));
  const parts = condition.parts.map((part) => decide(part, decidePart));
  return condition.kind === 'all' ? all(parts) : not(all(parts.map(not)));
}

/**
 * Returns true if some picture could make a condition true. "A person falls" never is: only "a person" can be decided.
 */
export function canHold(condition: Condition, wanted = true): boolean {
  if (isPart(condition)) return condition.kind !== 'unmeasurable';
  if (condition.kind === 'not') return canHold(condition.part, !wanted);
  const parts = condition.parts.map((part) => canHold(part, wanted));
  return (condition.kind === 'all') === wanted ? parts.every(Boolean) : parts.some(Boolean);
}

export function listParts<Part extends { kind: string }>(condition: Logic<Part>): Part[] {
  if (isPart(condition)) return [condition];
  return condition.kind === 'not'
    ? listParts(condition.part)
    : condition.parts.flatMap((part) => listParts(part));
}

/** Joins parts by "and" or "or". A single part stays alone. */
export function join<Part>(kind: 'all' | 'any', parts: Logic<Part>[]): Logic<Part> {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind, parts };
}

function isPart<Part extends { kind: string }>(condition: Logic<Part>): condition is Part {
  return !['not', 'all', 'any'].includes(condition.kind);
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

function all(values: (boolean | null)[]): boolean | null {
  if (values.includes(false)) return false;
  return values.includes(null) ? null : true;
}
