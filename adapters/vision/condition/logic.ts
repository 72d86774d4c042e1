/** Condition as parts that are decided one by one, joined by logic. A part that is null cannot be decided. */
export type Logic<Part> =
  | Part
  | { kind: 'not'; of: Logic<Part> }
  | { kind: 'all'; of: Logic<Part>[] }
  | { kind: 'any'; of: Logic<Part>[] };

/** Decides a condition in three-valued logic. Returns null if the undecided parts decide it. */
export function decide<Part extends { kind: string }>(
  condition: Logic<Part>,
  decidePart: (part: Part) => boolean | null,
): boolean | null {
  if (isPart(condition)) return decidePart(condition);
  switch (condition.kind) {
    case 'not':
      return not(decide(condition.of, decidePart));
    case 'all':
      return all(condition.of.map((part) => decide(part, decidePart)));
    case 'any':
      return not(all(condition.of.map((part) => not(decide(part, decidePart)))));
  }
}

/** Returns true if some picture could make a condition true: "a person falls" never is, if only "a person" can be decided. */
export function canHold<Part extends { kind: string }>(
  condition: Logic<Part>,
  canDecide: (part: Part) => boolean,
): boolean {
  return canBe(condition, true, canDecide);
}

function canBe<Part extends { kind: string }>(
  condition: Logic<Part>,
  wanted: boolean,
  canDecide: (part: Part) => boolean,
): boolean {
  if (isPart(condition)) return canDecide(condition);
  if (condition.kind === 'not') return canBe(condition.of, !wanted, canDecide);
  const parts = condition.of.map((part) => canBe(part, wanted, canDecide));
  return (condition.kind === 'all') === wanted ? parts.every(Boolean) : parts.some(Boolean);
}

/** Lists the parts of a condition. */
export function listParts<Part extends { kind: string }>(condition: Logic<Part>): Part[] {
  if (isPart(condition)) return [condition];
  return condition.kind === 'not' ? listParts(condition.of) : condition.of.flatMap((part) => listParts(part));
}

/** Joins parts by "and" or "or". A single part stays alone. */
export function join<Part>(kind: 'all' | 'any', parts: Logic<Part>[]): Logic<Part> {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind, of: parts };
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
