import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

const root = join(import.meta.dirname, '../..');

test.each(mutations)(
  'the rule "$rule" stands in the source, where it is broken',
  ({ file, from, test: named = file }) => {
    expect(readFileSync(join(root, file), 'utf8').split(from).length).toBeGreaterThan(1);
    expect(existsSync(join(root, named))).toBe(true);
  },
);

test('each rule has a name of its own', () => {
  expect(new Set(mutations.map(({ rule }) => rule)).size).toBe(mutations.length);
});
