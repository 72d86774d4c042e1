import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

/**
 * Files with a layer of their own: the list of the decisions of all policies of jobs, and what an edit of a watch
 * decides about destinations too.
 */
const ownLayers = ['policies/job-policies.ts', 'delivery/receivers.ts', 'delivery/destination-state.ts'];

/**
 * Folders of core from the ground up. A folder imports folders of the rows before its own, and files in core itself.
 * `policies/*` is the folder of a policy; policies do not import each other, those of jobs have `policies/job` in
 * common.
 */
const layers = [
  ['evaluation', 'records'],
  ['ports'],
  ['sight'],
  ['advice'],
  ['requests', 'responses'],
  ['stream', 'observability', 'access'],
  ['event'],
  ['tick'],
  ['policies'],
  ['policies/job'],
  ['policies/*'],
  ownLayers,
  ['job', 'watch'],
  ['memory'],
  ['delivery'],
  ['workflow'],
  ['backtest'],
  ['ask'],
];
const core = join(import.meta.dirname, '../../core');
const files = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/**
 * Files of another layer than their folder: schemas of policies, and what they share with responses, are below records.
 */
const lowerFiles = /^(policies\/(\w+\/)?records|responses\/fields)\.ts$/;

test('each folder of core has a layer', () => {
  const folders = new Set(files.map((file) => toLayer(file)).filter((folder) => folder !== '.'));
  expect([...folders].toSorted()).toEqual(layers.flat().toSorted());
});

test('a folder of core imports only folders of lower layers', () => {
  const upward = files.flatMap((file) =>
    importedFiles(file).flatMap((imported) => {
      const [from, to] = [toLayer(file), toLayer(imported)];
      const isInside = from === to && (from !== 'policies/*' || dirname(file) === dirname(imported));
      const isAllowed = from === '.' || to === '.' || isInside || findLayer(to) < findLayer(from);
      return isAllowed ? [] : [`${file} imports ${imported}`];
    }),
  );
  expect(upward).toEqual([]);
});

function toLayer(file: string): string {
  if (lowerFiles.test(file)) return 'records';
  if (ownLayers.includes(file)) return file;
  return dirname(file).replace(/^policies\/(?!job$)\w+$/, 'policies/*');
}

function findLayer(folder: string): number {
  return layers.findIndex((folders) => folders.includes(folder));
}

function importedFiles(file: string): string[] {
  const source = readFileSync(join(core, file), 'utf8');
  return [...source.matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    normalize(relative(core, join(core, dirname(file), path!))),
  );
}
