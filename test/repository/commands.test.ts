import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findUsageError, parseUsage } from '../../bin/usage.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const parts = readFileSync('bin/run.ts', 'utf8').replaceAll(/^import .*$/gm, '');

test('the project has at most 25 commands', () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(25);
});

test('each script that a command runs exists', () => {
  const paths = [...Object.values(scripts), parts].flatMap(
    (line) => line.match(/[\w/.-]+\.(?:ts|js)\b/g) ?? [],
  );
  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test('a command with parts names them if it is called with another', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bin/run.ts', 'check', 'spelling'], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('format, types, lint, unused, words, openapi, client');
  expect(stderr).toContain('npm run check -- format');
});

function run(...args: string[]) {
  return spawnSync(process.execPath, ['bin/run.ts', ...args], { encoding: 'utf8' });
}

const benchmarks = [
  'abuse',
  'alerts',
  'capture',
  'cold-start',
  'load',
  'motion',
  'objects',
  'sizes',
  'start',
  'visits',
];
test.each([
  ...benchmarks.map((name) => ['bench', name]),
  ['check', 'words'],
  ['check', 'openapi'],
  ['generate', 'client'],
  ['simulate', 'service'],
  ['simulate', 'mutations'],
  ['fuzz', 'api'],
  ['fuzz', 'media'],
])('an option that %s %s does not have is one line that says which ones there are', (command, part) => {
  const { status, stdout, stderr } = run(command, part, '--no-such-option');
  expect(stderr).toMatch(
    /^There is no option --no-such-option\. .*options?\b.*\n$|^There is no .* Use --.*\n$/,
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('--help prints the usage of a part without running it', () => {
  const { status, stdout, stderr } = run('bench', 'visits', '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Usage: npm run bench -- visits\n  --lengths 8,6,4 ');
});

test.each([
  'bench/load.ts',
  'bench/visits.ts',
  'bench/capture.ts',
  'bench/objects.ts',
  'test/simulation/simulate-process.ts',
  'test/fuzz/media/fuzz-process.ts',
])('the usage of %s has each option that it parses', (path) => {
  const source = readFileSync(path, 'utf8');
  const parsed = Array.from(source.matchAll(/(?<=[\s{])([a-z]+|'[a-z-]+'): \{ type: /g), ([, found = '']) =>
    found.replaceAll("'", ''),
  );
  expect(parsed.length).toBeGreaterThan(0);
  expect([...parseUsage(source).options.keys()].toSorted()).toEqual(parsed.toSorted());
});

describe('arguments of a script', () => {
  const usage = parseUsage(`import a from 'a';
/**
 * Measures.
 * Usage: npm run bench -- all FOLDER [40x40 …]
 *   --seconds 40           duration
 *   --lengths 8,6          in turn
 *   --only with|without    one of both
 *   --file FILE            labels
 *   --quick                sooner
 */`);
  const check = (...given: string[]) => findUsageError(usage, given);

  test('arguments that the usage has are passed on', () => {
    expect(
      check('a', '1x1', '300x10', '--quick', '--seconds', '2.5', '--lengths=4', '--only', 'with'),
    ).toBeUndefined();
    expect(check('a', '--file', 'any', '--lengths', '1,2,3')).toBeUndefined();
  });

  test.each([
    [['a', '--seconds', 'soon'], 'Give --seconds a value such as 40, not "soon".'],
    [['a', '--seconds'], 'Give --seconds a value such as 40, not nothing.'],
    [['a', '--seconds', '--quick'], 'Give --seconds a value such as 40, not "--quick".'],
    [['a', '--only', 'both'], 'Give --only with or without, not "both".'],
    [['a', '--lengths=x'], 'Give --lengths a value such as 8,6, not "x".'],
    [['a', '40'], 'Give npm run bench -- all a value such as 40x40, not "40".'],
    [[], 'Name FOLDER: npm run bench -- all FOLDER'],
  ])('the arguments %j are an error that names what to give', (given, message) => {
    expect(check(...given)).toBe(message);
  });

  test('an argument of a script without arguments is an error', () => {
    expect(findUsageError(parseUsage('/** Measures. */'), ['a'])).toContain('"a" is one argument too many');
  });
});
