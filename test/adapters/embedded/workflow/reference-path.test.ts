import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, toJson } from '../../../../adapters/embedded/workflow/json.ts';
import {
  readPath,
  referencePathSchema,
  writePath,
} from '../../../../adapters/embedded/workflow/reference-path.ts';

const path = (text: string) => referencePathSchema.parse(text);

describe('a reference path', () => {
  it.each<[string, Json]>([
    ['$', { a: { b: null } }],
    ['$.a', { b: null }],
    ['$.a.b', null],
  ])('reads %s', (text, value) => {
    expect(readPath(path(text), { a: { b: null } })).toEqual(value);
  });

  it.each(['$.b', '$.a.b.c', '$.list.length', '$.constructor'])('finds nothing at %s', (text) => {
    expect(() => readPath(path(text), { a: { b: null }, list: [1] })).toThrow(`Nothing is at ${text}`);
  });

  it.each<[string, Json]>([
    ['$', 7],
    ['$.a', { a: 7, keep: 1 }],
    ['$.a.c', { a: { b: 2, c: 7 }, keep: 1 }],
    ['$.x.y.z', { a: { b: 2 }, keep: 1, x: { y: { z: 7 } } }],
  ])('writes %s and keeps the rest', (text, written) => {
    const document = { a: { b: 2 }, keep: 1 };
    expect(writePath(path(text), document, 7)).toEqual(written);
    expect(document).toEqual({ a: { b: 2 }, keep: 1 });
  });

  it.each(['$.n.x', '$.nothing.x', '$.list.x'])('does not write through what is no object: %s', (text) => {
    expect(() => writePath(path(text), { n: 1, nothing: null, list: [] }, 7)).toThrow('no object');
  });

  it.each([
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
  ])('is not %j', (text) => {
    expect(referencePathSchema.safeParse(text).success).toBe(false);
  });

  it('reads what was written, whatever the document', () => {
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
