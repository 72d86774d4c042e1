import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Mutation } from './mutations.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
/** Without `vitest.config.ts`: a unit test needs no lane. */
const copied = ['core', 'adapters', 'cli', 'lib/workflow', 'test', 'package.json'];

const world = 'test/simulation/simulate-process.ts --seeds 16 --days 4 --faults 6 --stop';

/**
 * Result of a mutation: `killed` if its test or the simulation noticed it, `missing` if the source has changed,
 * `broken` if neither could run.
 */
export type MutationResult = 'killed' | 'survived' | 'missing' | 'broken';

/** Breaks a rule in a copy of the source, and runs there the test that it names, or the simulation. */
export async function runMutation({ file, from, to, test }: Mutation): Promise<MutationResult> {
  using temporary = openTemporaryFolder('watch-mutation-');
  const copy = temporary.path;
  for (const path of copied) cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(from)) return 'missing';
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const run = test === undefined ? world : `node_modules/vitest/vitest.mjs run ${test}`;
  const child = spawn(process.execPath, run.split(' '), {
    cwd: copy,
    env: { ...process.env, NO_COLOR: '1', SIMULATION_SEEDS: 'all' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode === 0) return 'survived';
  const hasFailed = /1 failures|Tests +\d+ failed/.test(stdout) && !stdout.includes(' is not defined');
  return hasFailed ? 'killed' : 'broken';
}
