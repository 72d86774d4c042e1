import { expect, test } from 'vitest';
import { z } from 'zod';
import { createRecordReader } from '../../../../adapters/embedded/sqlite/record.ts';

const schema = z.object({ name: z.string(), tags: z.array(z.string()).default([]) });

test('a record is parsed once while its text stays the same, and again when it changes', () => {
  let parsed = 0;
  const read = createRecordReader(
    schema.refine(() => (parsed += 1) > 0),
    2,
  );
  const first = read('1', { record: '{"name":"a"}' });
  expect(read('1', { record: '{"name":"a"}' })).toBe(first);
  expect(parsed).toBe(1);
  expect(read('1', { record: '{"name":"b"}' })).toEqual({ name: 'b', tags: [] });
  expect(parsed).toBe(2);
});

test('a record that several readers share cannot be changed', () => {
  const read = createRecordReader(schema, 2);
  const record = read('1', { record: '{"name":"a","tags":["x"]}' })!;
  expect(() => record.tags.push('y')).toThrow(TypeError);
  expect(() => Object.assign(record, { name: 'b' })).toThrow(TypeError);
});

test('the newest records are kept, up to the maximum', () => {
  let parsed = 0;
  const read = createRecordReader(
    schema.refine(() => (parsed += 1) > 0),
    2,
  );
  for (const id of ['1', '2', '3', '3', '1']) read(id, { record: '{"name":"a"}' });
  expect(parsed).toBe(4);
});

test('a record that does not fit is not kept, and a missing row is no record', () => {
  const read = createRecordReader(schema, 2);
  for (let time = 0; time < 2; time += 1)
    expect(() => read('1', { record: '{"name":1}' })).toThrow('does not fit its schema');
  expect(read('1', undefined)).toBeUndefined();
});
