import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, toJson } from '../../../../adapters/embedded/workflow/json.ts';
import {
  readPath,
  referencePathSchema,
  writePath,
} from '../../../../adapters/embedded/workflow/reference-path.ts';

const path = (text: string) => referencePathSchema.parse(text);

describe('a reference path', () => {
  test.each<[string, Json]>([
    ['$', { a: { b: null } }],
    ['$.a', { b: null }],
    ['$.a.b', null],
  ])('the value at %s is read', (text, value) => {
    expect(readPath(path(text), { a: { b: null } })).toEqual(value);
  });

  test.each(['$.b', '$.a.b.c', '$.list.length', '$.constructor'])('the path %s finds no value', (text) => {
    expect(() => readPath(path(text), { a: { b: null }, list: [1] })).toThrow(`Nothing is at ${text}`);
  });

  test.each<[string, Json]>([
    ['$', 7],
    ['$.a', { a: 7, keep: 1 }],
    ['$.a.c', { a: { b: 2, c: 7 }, keep: 1 }],
    ['$.x.y.z', { a: { b: 2 }, keep: 1, x: { y: { z: 7 } } }],
  ])('a write to %s keeps all other values', (text, written) => {
    const document = { a: { b: 2 }, keep: 1 };
    expect(writePath(path(text), document, 7)).toEqual(written);
    expect(document).toEqual({ a: { b: 2 }, keep: 1 });
  });

  test.each(['$.n.x', '$.nothing.x', '$.list.x'])(
    'a write across a value that is not an object throws: %s',
    (text) => {
      expect(() => writePath(path(text), { n: 1, nothing: null, list: [] }, 7)).toThrow('not an object');
    },
  );

  test.each([
    '',
    '.a',
    'a',
    '$a',
    '$.',
    '$.a.',
    '$..a',
    '$.a[0]',
    "$['a']",
    '$.*',
    '$.a-b',
    '$$',
    '$$.Execution',
    '$.1a',
    'States.UUID()',
  ])('the text %j is not a reference path', (text) => {
    expect(referencePathSchema.safeParse(text).success).toBe(false);
  });

  test('a written value is read back in any document', () => {
    const field = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString');
    fc.assert(
      fc.property(
        fc.dictionary(field, fc.jsonValue()),
        fc.array(field, { minLength: 1, maxLength: 3 }),
        (document, fields) => {
          const target = { text: '', fields };
          let written: Json;
          try {
            written = writePath(target, toJson(document), 'value');
          } catch {
            return;
          }
          expect(readPath(target, written)).toBe('value');
        },
      ),
    );
  });
});
