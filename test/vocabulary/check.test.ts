import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkFiles, countByRule, formatFinding } from './check-files.ts';
import { checkPage } from './check-page.ts';
import { checkSource } from './check-source.ts';
import { checkTitle } from './rules.ts';

const rulesIn = (source: string, file = 'a.ts') =>
  checkSource(file, source).map(({ rule, text }) => `${rule}: ${text}`);

describe('comments', () => {
  test.each([
    ['/** Of a clip, its end. */'],
    ['/**\n * What a tick needs.\n */'],
    ['// who is let in'],
    ['/* Whether it holds */'],
    ['// Where it lies'],
    ['// Why not'],
    ['// How long'],
    ['// That is one'],
  ])('a comment that opens with a banned word is reported: %j', (comment) => {
    expect(rulesIn(`${comment}\nconst a = 1;`)).toEqual([expect.stringMatching(/^comment-opening: /)]);
  });

  test('a comment that starts with a noun or a verb is accepted', () => {
    expect(rulesIn('/** Returns the end. */\n// Offset of a clip, whose start is 0.\nconst a = 1;')).toEqual(
      [],
    );
  });

  test('a line of a comment that is wider than 120 columns is reported, unless it cannot be broken', () => {
    const wide = `Returns ${'a word '.repeat(20)}`;
    expect(rulesIn(`/**\n * Short.\n * ${wide}\n */\nconst a = 1;`)).toEqual([
      'comment-width: * Returns a word a word',
    ]);
    expect(rulesIn(`  // ${wide}\nconst a = 1;`)).toHaveLength(1);
    expect(rulesIn(`// https://${'long.'.repeat(30)}example\nconst a = 1; // ${wide}`)).toEqual([]);
  });

  test('line comments on consecutive lines count as one comment', () => {
    expect(rulesIn('// The last line starts with\n// what would be banned alone.\nconst a = 1;')).toEqual([]);
    expect(rulesIn('// A comment.\n\n// What follows a blank line.\nconst a = 1;')).toHaveLength(1);
  });

  test('a banned phrase is reported across lines of a docstring and inside directives of no tool', () => {
    expect(rulesIn('/** A window is told\n * anew. */\nconst a = 1;')).toEqual([
      'banned-phrase: is told',
      'banned-phrase: anew',
    ]);
  });
});

describe('names', () => {
  test.each([
    ['at', 'const at = 1;'],
    ['known', 'let [, known] = pair;'],
    ['known', 'const { places: known = [] } = held;'],
    ['found', 'const { ranges, ...found } = answer;'],
    ['of', 'for (const of of list) use(of);'],
    ['at', 'function read(bytes, at = 0) {}'],
    ['found', 'function found() {}'],
    ['at', 'const read = async ({ time: { begin: at } }) => at;'],
    ['known', 'class Reader { constructor(private known: number) {} }'],
  ])('a value called %s is reported: %j', (name, source) => {
    expect(rulesIn(source)).toEqual([`empty-name: ${name}`]);
  });

  test('fields, types and tests may have any name', () => {
    const source =
      'const { at, known = 1 } = record; record.at = { at, of: 1 }; type Read = (at: Date) => void;';
    expect(rulesIn(source)).toEqual([]);
    expect(rulesIn('const found = 1;', 'test/a.test.ts')).toEqual([]);
  });
});

describe('strings', () => {
  test('a banned phrase is reported in a string, in a template and in JSX', () => {
    expect(rulesIn("const a = 'it goes on'; const b = `${a} at once`;")).toEqual([
      'banned-phrase: goes on',
      'banned-phrase: at once',
    ]);
    expect(rulesIn('const a = <p>It ends by itself</p>;', 'a.tsx')).toEqual(['banned-phrase: by itself']);
  });

  test('paths of imports and longer words are accepted', () => {
    expect(rulesIn("import a from './at once.ts';\nconst b = 'hours of colours';")).toEqual([]);
  });
});

describe('titles of tests', () => {
  test.each([
    ['title-opening', 'with a clip is slower'],
    ['title-opening', 'that takes too long is a failed one'],
    ['title-opening', 'When it ends, it ends'],
    ['title-subject', 'is covered by a case or a test'],
    ['title-subject', 'names the cases that name it'],
    ['title-subject', 'skips a picture in which nothing moved'],
    ['title-subject', 'verifies with the public library'],
    ['title-subject', 'also ends when the clock is set back'],
    ['title-fragment', '%s'],
    ['title-fragment', 'the end'],
  ])('%s reports the title "%s"', (rule, title) => {
    expect(checkTitle(title)?.rule).toBe(rule);
  });

  test.each([
    'a capture that times out is reported as failed',
    'events of a job arrive in order',
    'the code %s is documented',
    'changes that come late are outdated',
  ])('the title "%s" is accepted', (title) => {
    expect(checkTitle(title)).toBeUndefined();
  });

  test('titles of it, test, their modifiers and tables are checked; those of describe are not', () => {
    const source = [
      "describe('of a job', () => {",
      "  it('in time', () => {});",
      "  test.concurrent.each([1])('of %s', () => {});",
      '  it.skip(`on ${day}`, () => {});',
      "  expect.it('of one');",
      '});',
    ].join('\n');
    expect(rulesIn(source)).toEqual([
      'title-opening: in time',
      'title-opening: of %s',
      'title-opening: on %s',
    ]);
  });
});

describe('pages', () => {
  test('a banned phrase is reported in prose, and not in code, addresses or quotes of the interface', () => {
    const page = [
      'It is `at once` code, [a link](at-once.md).',
      '',
      '```sh',
      'echo at once',
      '```',
      '- **I-1** "at once"',
      'Text at once.',
    ].join('\n');
    expect(checkPage(page)).toMatchObject([{ rule: 'banned-phrase', text: 'at once' }]);
    expect(checkPage(page)[0]?.offset).toBe(page.lastIndexOf('at once'));
  });
});

describe('the whole project', () => {
  const root = mkdtempSync(join(tmpdir(), 'watchpost-words-'));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  test('findings carry file, line, rule and remedy, and leave generated files and builds out', () => {
    write('core/a.ts', 'const a = 1;\n// Of all\nconst b = 1;\n');
    write('docs/a.md', 'Text.\n\nIt comes again.\n');
    write('client/openapi-types.ts', '/** What */ export type A = 1;');
    write('client/dist/index.js', '// What\n');
    const findings = checkFiles(root);
    expect(findings.map(({ file, line, rule }) => `${file}:${line} ${rule}`)).toEqual([
      'core/a.ts:2 comment-opening',
      'docs/a.md:3 banned-phrase',
    ]);
    expect(formatFinding(findings[1]!)).toBe(
      'docs/a.md:3  banned-phrase  "comes again"\n    Use the term of the glossary, or say it with subject, verb and object.',
    );
    expect(countByRule(findings)).toMatchObject({ 'comment-opening': 1, 'title-opening': 0 });
  });
});
