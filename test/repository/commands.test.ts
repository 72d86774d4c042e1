import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const parts = readFileSync('bin/run.ts', 'utf8');

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
