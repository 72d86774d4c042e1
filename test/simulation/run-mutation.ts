import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutation } from './mutations.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const copied = ['core', 'adapters', 'cli', 'lib/workflow', 'test/simulation', 'package.json'];

const options = {
  rules: ['--seeds', '60', '--days', '30', '--interval', '60'],
  service: ['--seeds', '16', '--days', '4', '--faults', '6'],
};

/** Result of a mutation: `killed` if the simulation noticed it, `missing` if the source has changed, `broken` if the simulation could not start. */
export type MutationResult = 'killed' | 'SURVIVED' | 'missing' | 'broken';

/** Breaks a rule in a copy of the source and runs the simulation there. */
export function runMutation({ simulation, file, from, to }: Mutation): MutationResult {
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
  const script = join(copy, 'test/simulation/simulate-process.ts');
  const { status, stdout } = spawnSync(process.execPath, [
    script,
    simulation,
    ...options[simulation],
    '--stop',
  ]);
  if (status === 0) return 'SURVIVED';
  return stdout.toString().includes('1 failures') ? 'killed' : 'broken';
}
