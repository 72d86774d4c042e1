import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allCases } from './conformance/cases/index.ts';

/** docs/contribute/interface-coverage.md, the conformance cases and the tests say the same: no statement without cover, no name that leads nowhere. */

type Statement = { id: string; cases: string[]; tests: { file: string; title: string }[] };

const statements = readStatements(readFileSync('docs/contribute/interface-coverage.md', 'utf8'));
const ids = statements.map(({ id }) => id);

describe('every statement of the interface', () => {
  test('every statement is covered by a case or a test', () => {
    const bare = statements.filter(({ cases, tests }) => cases.length + tests.length === 0);
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  test('every statement names the cases that name it', () => {
    const covering = ids.map((id) => [id, idsOfCasesFor(id)]);
    expect(statements.map(({ id, cases }) => [id, cases])).toEqual(covering);
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

  test('the page lists all statements of the interface', () => {
    expect(ids.filter((id) => id.startsWith('I-'))).toHaveLength(192);
  });
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

function readStatements(page: string): Statement[] {
  return page
    .split(/^- (?=\*\*[IW]-)/m)
    .slice(1)
    .map((block) => ({
      id: /^\*\*([IW]-[\d.]+)\*\*/.exec(block)?.[1] ?? '',
      cases: [...line(block, 'Cases').matchAll(/`([^`]+)`/g)].map(([, id = '']) => id),
      tests: [...line(block, 'Tests').matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({
        file,
        title,
      })),
    }));
}

function line(block: string, name: string): string {
  return new RegExp(`^  - ${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
}

function idsOfCasesFor(statement: string): string[] {
  return allCases
    .filter(({ covers }) => covers.includes(statement))
    .map(({ id }) => id)
    .toSorted();
}

function isTitle(title: string, file: string): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}
