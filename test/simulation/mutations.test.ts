import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

const root = join(import.meta.dirname, '../..');

test.each(mutations)(
  'the rule "$rule" stands in the source, where the simulation of $simulation breaks it',
  ({ file, from }) => {
    expect(readFileSync(join(root, file), 'utf8').split(from).length).toBeGreaterThan(1);
  },
);

test('each rule has a name of its own', () => {
  expect(new Set(mutations.map(({ rule }) => rule)).size).toBe(mutations.length);
});
