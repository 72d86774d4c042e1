import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allCases } from './conformance/cases/index.ts';
import { listStatements } from './conformance/report.ts';
import { statements } from './conformance/statements.ts';

/**
 * The statements of the interface, the conformance cases and the tests agree: no statement without cover, no name that
 * leads nowhere.
 */

const ids = statements.map(({ id }) => id);

describe('every statement of the interface', () => {
  test('every statement is covered by a case or a test', () => {
    const covered = new Set(allCases.flatMap(({ covers }) => covers));
    const bare = statements.filter(({ id, tests }) => !covered.has(id) && tests.length === 0);
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  test('every statement names only tests that exist', () => {
    const named = statements.flatMap(({ id, tests }) => tests.map((each) => ({ id, ...each })));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(({ file, title }) => !isTitle(title, file))).toEqual([]);
  });

  test('every statement has a unique number, without holes within a section', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const sections = Map.groupBy(ids, (id) => id.slice(0, id.lastIndexOf('.')));
    for (const [section, inSection] of sections)
      expect(inSection).toEqual(inSection.map((_, at) => `${section}.${at + 1}`));
  });

  test('the list has all statements of the interface', () => {
    expect(ids.filter((id) => id.startsWith('I-'))).toHaveLength(192);
  });
});

test('a comment of the source names the interface by statements that exist, not by sections', () => {
  const files = globSync('{adapters,cli,client,core,functions,lib,test}/**/*.ts', {
    exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
  });
  const comments = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^ *(?:\/\*\*|\*|\/\/) .*$/gm)].map(([comment]) => ({
      file,
      comment,
    })),
  );
  const named = comments.flatMap(({ comment }) => [...comment.matchAll(/\bI-\d[\d.]*\d/g)].map(([id]) => id));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  expect(comments.filter(({ comment }) => /(?:interface|design),? \(?sections? \d/.test(comment))).toEqual(
    [],
  );
});

describe('every case', () => {
  test('every case covers statements that exist, each named once', () => {
    const wrong = allCases.filter(
      ({ covers }) =>
        covers.length === 0 || new Set(covers).size < covers.length || covers.some((id) => !ids.includes(id)),
    );
    expect(wrong).toEqual([]);
  });

  test('every case has a unique id and title', () => {
    expect(new Set(allCases.map(({ id }) => id)).size).toBe(allCases.length);
    expect(new Set(allCases.map(({ title }) => title)).size).toBe(allCases.length);
    expect(allCases.filter(({ id }) => !/^[a-z0-9-]+$/.test(id))).toEqual([]);
  });
});

test('npm run conformance -- --statements prints a statement with its decision, its cases and its tests', () => {
  const statement = {
    id: 'I-1.1',
    text: '"one"',
    decision: 'two.',
    tests: [{ file: 'a.test.ts', title: 'three' }],
  };
  const others = [
    { id: 'I-1.10', text: '"ten"', tests: [] },
    { id: 'I-2.1', text: '"of one"', tests: [] },
  ];
  const [one] = allCases;
  const cases = one === undefined ? [] : [{ ...one, id: 'a-case', title: 'four', covers: ['I-1.1'] }];
  const print = (...only: string[]) => listStatements([statement, ...others], cases, only);
  const expected = 'I-1.1  "one"\n  decision: two.\n  case a-case: four\n  test a.test.ts: three';
  expect(print('I-1.1')).toBe(expected);
  expect(print('one')).toBe(`${expected}\nI-2.1  "of one"`);
  expect(print('I-1')).toBe(`${expected}\nI-1.10  "ten"`);
  expect(print().split('\n')).toHaveLength(6);
});

function isTitle(title: string, file: string): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}
