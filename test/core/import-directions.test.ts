import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

/** Folders of core from the ground up. A folder imports folders of the rows before its own, and files in core itself. */
const layers = [
  ['evaluation', 'records'],
  ['ports'],
  ['sight'],
  ['advice'],
  ['requests', 'responses'],
  ['kinds'],
  ['stream', 'observability', 'access'],
  ['event'],
  ['tick'],
  ['policies'],
  ['policies/digest', 'policies/monitor', 'policies/watch'],
  ['job', 'watch'],
  ['delivery'],
  ['workflow'],
];
const core = join(import.meta.dirname, '../../core');
const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

test('each folder of core has a layer', () => {
  const folders = new Set(files.map((file) => dirname(file)).filter((folder) => folder !== '.'));
  expect([...folders].toSorted()).toEqual(layers.flat().toSorted());
});

test('a folder of core imports only folders of lower layers', () => {
  const upward = files.flatMap((file) =>
    importedFiles(file).flatMap((imported) => {
      const [from, to] = [dirname(file), dirname(imported)];
      const isAllowed = from === '.' || to === '.' || from === to || findLayer(to) < findLayer(from);
      return isAllowed ? [] : [`${file} imports ${imported}`];
    }),
  );
  expect(upward).toEqual([]);
});

function findLayer(folder: string): number {
  return layers.findIndex((folders) => folders.includes(folder));
}

function importedFiles(file: string): string[] {
  const source = readFileSync(join(core, file), 'utf8');
  return [...source.matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    normalize(relative(core, join(core, dirname(file), path!))),
  );
}
