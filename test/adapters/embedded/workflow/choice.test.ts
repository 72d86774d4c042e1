import { describe, expect, test } from 'vitest';
import { choiceRuleSchema, choose } from '../../../../adapters/embedded/workflow/choice.ts';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';

const rules = [
  { Variable: '$.x', BooleanEquals: false, Next: 'false' },
  { Variable: '$.x', BooleanEquals: false, Next: 'second' },
].map((rule) => choiceRuleSchema.parse(rule));

describe('a choice', () => {
  test('a value follows the first rule that has it', () => {
    expect(choose(rules, 'other', { x: false })).toBe('false');
  });

  test.each<[Json]>([[true], [0], [''], [null], [[]], [{}]])('the value %j follows the default', (x) => {
    expect(choose(rules, 'other', { x })).toBe('other');
  });

  test('an absent variable throws', () => {
    expect(() => choose(rules, 'other', {})).toThrow('Nothing is at $.x');
  });
});
