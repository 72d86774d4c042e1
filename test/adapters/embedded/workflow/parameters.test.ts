import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';
import { render, templateSchema } from '../../../../adapters/embedded/workflow/parameters.ts';

const rendered = (template: Json, input: Json) => render(templateSchema.parse(template), input);

describe('a payload template', () => {
  test('a key that ends in .$ takes its value from its path', () => {
    expect(rendered({ operation: 'begin', 'id.$': '$.job.id' }, { job: { id: 7 } })).toEqual({
      operation: 'begin',
      id: 7,
    });
  });

  test('a template contains any scalar, and a path any value', () => {
    const template = { a: 1, b: true, c: null, 'd.$': '$.x' };
    expect(rendered(template, { x: [{ y: 1 }] })).toEqual({ a: 1, b: true, c: null, d: [{ y: 1 }] });
  });

  test('text that looks like a path stays unchanged if its key does not end in .$', () => {
    expect(rendered({ x: '$.x' }, { x: 1 })).toEqual({ x: '$.x' });
  });

  test('a path that finds no value throws', () => {
    expect(() => rendered({ 'x.$': '$.x' }, { y: 1 })).toThrow('Nothing is at $.x');
  });
});
