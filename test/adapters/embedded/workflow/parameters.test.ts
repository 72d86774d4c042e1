import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../adapters/embedded/workflow/json.ts';
import { render, templateSchema } from '../../../../adapters/embedded/workflow/parameters.ts';

const rendered = (template: Json, input: Json) => render(templateSchema.parse(template), input);

describe('a payload template', () => {
  it('takes the value of a key that ends in .$ from its path', () => {
    expect(rendered({ operation: 'begin', 'id.$': '$.job.id' }, { job: { id: 7 } })).toEqual({
      operation: 'begin',
      id: 7,
    });
  });

  it('reaches into objects and lists', () => {
    const template = { a: { b: [{ 'x.$': '$.x' }, 'plain', null] } };
    expect(rendered(template, { x: { y: 1 } })).toEqual({ a: { b: [{ x: { y: 1 } }, 'plain', null] } });
  });

  it('leaves text that looks like a path alone where the key does not end in .$', () => {
    expect(rendered({ x: '$.x', list: ['$.x'] }, { x: 1 })).toEqual({ x: '$.x', list: ['$.x'] });
  });

  it('throws where a path finds nothing', () => {
    expect(() => rendered({ 'x.$': '$.x' }, { y: 1 })).toThrow('Nothing is at $.x');
  });
});
