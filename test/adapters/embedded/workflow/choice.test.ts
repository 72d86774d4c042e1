import { describe, expect, it } from 'vitest';
import { choiceRuleSchema, choose } from '../../../../adapters/embedded/workflow/choice.ts';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';

const rules = [
  { Variable: '$.x', BooleanEquals: false, Next: 'false' },
  { Variable: '$.x', NumericEquals: 0, Next: 'zero' },
  { Variable: '$.x', StringEquals: '', Next: 'empty' },
  { Variable: '$.x', StringEquals: '', Next: 'second' },
].map((rule) => choiceRuleSchema.parse(rule));

describe('a choice', () => {
  it.each<[Json, string]>([
    [false, 'false'],
    [0, 'zero'],
    ['', 'empty'],
  ])('the value %j follows the first rule that has its value and type', (x, next) => {
    expect(choose(rules, 'other', { x })).toBe(next);
  });

  it.each<[Json]>([[true], [1], ['a'], [null], [[]], [{}]])('the value %j follows the default', (x) => {
    expect(choose(rules, 'other', { x })).toBe('other');
  });

  it('a choice without a match and a default has no next state', () => {
    expect(choose(rules, undefined, { x: true })).toBeUndefined();
  });

  it('an absent variable throws', () => {
    expect(() => choose(rules, 'other', {})).toThrow('Nothing is at $.x');
  });
});
