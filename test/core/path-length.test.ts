import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** Files that a reader of a path crosses: its roots, and all files that they import, except for types. */
const paths = [
  {
    name: 'a POST to a running job',
    roots: ['core/job/create-monitor.ts', 'core/workflow/begin.ts', 'core/workflow/begin-job.ts'],
    maxFiles: 21,
  },
  {
    name: 'a tick of a job',
    roots: ['core/workflow/capture-tick.ts', 'core/workflow/analyze.ts', 'core/workflow/job-runs.ts'],
    maxFiles: 35,
  },
  {
    name: 'an event to a webhook or another destination',
    roots: [
      'core/event/publish.ts',
      'core/delivery/deliver.ts',
      'adapters/embedded/delivery-queue.ts',
      'adapters/webhook/webhook-sender.ts',
      'adapters/webhook/webhook-signer.ts',
    ],
    maxFiles: 34,
  },
];
const repository = join(import.meta.dirname, '../..');

test.each(paths)('the path of $name crosses at most $maxFiles files', ({ roots, maxFiles }) => {
  const crossed = crossedFiles(roots);
  expect(roots.filter((root) => !existsSync(join(repository, root)))).toEqual([]);
  expect(crossed.length, crossed.join('\n')).toBeLessThanOrEqual(maxFiles);
});

function crossedFiles(roots: string[]): string[] {
  const crossed = new Set(roots);
  for (const file of crossed) {
    for (const imported of importedFiles(file)) crossed.add(imported);
  }
  return [...crossed].toSorted();
}

function importedFiles(file: string): string[] {
  const source = readFileSync(join(repository, file), 'utf8');
  return [...source.matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from '(\.[^']+)'/gm)].map(([, path]) =>
    join(dirname(file), path!),
  );
}
