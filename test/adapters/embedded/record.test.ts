import { expect, test } from 'vitest';
import { z } from 'zod';
import { createRecordReader } from '../../../adapters/embedded/record.ts';

const schema = z.object({ name: z.string(), tags: z.array(z.string()).default([]) });

test('a record is parsed once while its text stays the same, and again when it changes', () => {
  let parsed = 0;
  const { read } = createRecordReader(
    schema.refine(() => (parsed += 1) > 0),
    2,
  );
  const first = read('1', { record: '{"name":"a"}' });
  expect(read('1', { record: '{"name":"a"}' })).toBe(first);
  expect(parsed).toBe(1);
  expect(read('1', { record: '{"name":"b"}' })).toEqual({ name: 'b', tags: [] });
  expect(parsed).toBe(2);
});

test('a record that was written is not parsed, unless another text is stored since', () => {
  let parsed = 0;
  const { read, remember } = createRecordReader(
    schema.refine(() => (parsed += 1) > 0),
    2,
  );
  const written = { name: 'a', tags: [] };
  remember('1', '{"name":"a","tags":[]}', written);
  expect(read('1', { record: '{"name":"a","tags":[]}' })).toBe(written);
  expect(parsed).toBe(0);
  expect(read('1', { record: '{"name":"taken back"}' })).toEqual({ name: 'taken back', tags: [] });
});

test('a record that several readers share cannot be changed', () => {
  const { read, remember } = createRecordReader(schema, 2);
  const written = { name: 'a', tags: ['x'] };
  remember('2', '{"name":"a","tags":["x"]}', written);
  for (const record of [read('1', { record: '{"name":"a","tags":["x"]}' })!, written]) {
    expect(() => record.tags.push('y')).toThrow(TypeError);
    expect(() => Object.assign(record, { name: 'b' })).toThrow(TypeError);
  }
});

test('the newest records are kept, up to the maximum', () => {
  let parsed = 0;
  const { read } = createRecordReader(
    schema.refine(() => (parsed += 1) > 0),
    2,
  );
  for (const id of ['1', '2', '3', '3', '1']) read(id, { record: '{"name":"a"}' });
  expect(parsed).toBe(4);
});

test('a record that does not fit is not kept, and a missing row is no record', () => {
  const { read } = createRecordReader(schema, 2);
  for (let time = 0; time < 2; time += 1)
    expect(() => read('1', { record: '{"name":1}' })).toThrow('does not fit its schema');
  expect(read('1', undefined)).toBeUndefined();
});
