import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Each class of the source that extends another one, by its name. */
const classes = new Map(
  ['core', 'adapters', 'functions']
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').split(/^(?=(?:export )?class )/m))
    .flatMap((text) => {
      const [, name, parent] = /^(?:export )?class (\w+) extends (\w+)/.exec(text) ?? [];
      return name === undefined ? [] : [[name, { parent, text: text.slice(0, text.search(/^}|{}$/m)) }]];
    }),
);

function isForCallers(name: string | undefined): boolean {
  return name === 'WatchpostError' || (name !== undefined && isForCallers(classes.get(name)?.parent));
}

test('each error for callers states its name, because bundles shorten the names of classes', () => {
  const forCallers = [...classes].filter(([name]) => isForCallers(name));

  const nameless = forCallers.filter(([name, { text }]) => !text.includes(`override name = '${name}'`));

  expect(forCallers.length).toBeGreaterThan(25);
  expect(nameless.map(([name]) => name)).toEqual([]);
});
