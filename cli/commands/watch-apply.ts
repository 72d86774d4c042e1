import type { Command } from 'commander';
import { z } from 'zod';
import { addService, openService } from '../target/target-options.ts';
import { readFile } from 'node:fs/promises';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import { RequestInvalidError, WatchpostError, type Watchpost } from '../../client/index.ts';
import { createFingerprint } from '../../core/watch/create-watch.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import { listAllWatches } from '../watches/find-watch.ts';
import { isChange, planChanges, type Step } from '../watches/plan-changes.ts';
import { readWatchFile } from '../watches/read-watch-file.ts';

const applyOptions = z.object({ prune: z.boolean().default(false), yes: z.boolean().default(false) });

export function addApply(watch: Command, terminal: Terminal): void {
  addService(
    watch
      .command('apply')
      .argument('<file>', 'YAML or JSON; - reads standard input')
      .description('create and change watches to match a file, which identifies them by name'),
  )
    .option('--prune', 'also remove watches that the file lacks')
    .option('--yes', 'apply the plan without asking')
    .action(async (file: string, raw: unknown) => {
      await applyWatches(await openService(raw), { file, ...applyOptions.parse(raw) }, process.env, terminal);
    });
}

export type ApplyOptions = { file: string; prune: boolean; yes: boolean };

/**
 * Creates and changes watches to match a file, which names them. Prints the plan first, and asks unless `yes`. Without
 * a difference it changes nothing. Throws `CommandError` if a step failed; the other steps are carried out.
 */
export async function applyWatches(
  client: Watchpost,
  { file, prune, yes }: ApplyOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<void> {
  const wanted = readWatchFile(await readText(file), file, env);
  const existing = await listAllWatches(client);
  const steps = planChanges(wanted, existing, await readFingerprint(client), prune);
  for (const line of describePlan(steps)) terminal.print(line);
  const changes = steps.filter(isChange);
  if (changes.length === 0) return;
  if (!yes && !(await terminal.confirm('Apply this plan?')))
    throw new CommandError('Nothing was changed', 'Confirm at a terminal, or use --yes.');
  const failed: string[] = [];
  for (const step of changes) {
    try {
      await carryOut(step, client);
      terminal.print(`${done[step.kind]} "${step.name}".`);
    } catch (error) {
      if (!(error instanceof WatchpostError)) throw error;
      const advice = error instanceof RequestInvalidError ? '' : ` ${error.remediation}`;
      failed.push(`"${step.name}": ${error.message}.${advice}`);
    }
  }
  if (failed.length > 0)
    throw new CommandError(
      `${failed.length} of ${changes.length} steps failed:\n${failed.map((line) => `  ${line}`).join('\n')}`,
      'Mend the cause and apply the file again: what is done stays unchanged.',
    );
}

const done: Record<Step['kind'], string> = {
  create: 'Created',
  change: 'Changed',
  remove: 'Removed',
  unchanged: 'Left',
  keep: 'Kept',
};

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read`, 'Use the path of a YAML or JSON file.', { cause });
  }
}

/** The key of fingerprints lets the plan compare addresses that responses mask. */
async function readFingerprint(client: Watchpost) {
  const { fingerprint_key: key } = await client.getWebhookSecret().catch((error: unknown) => {
    if (!(error instanceof WatchpostError) || error.code !== 'FORBIDDEN') throw error;
    throw new CommandError(
      'The key may not compare addresses: it lacks the scope keys',
      'Use a key with the scopes jobs and keys.',
      { cause: error },
    );
  });
  return createFingerprint(key, nodeKeyCrypto);
}

async function carryOut(step: Step, client: Watchpost): Promise<void> {
  if (step.kind === 'create') await client.createWatch(step.request);
  if (step.kind === 'change')
    await client.changeWatch(step.watch.watch_id, step.patch, { ifVersion: step.watch.config_version });
  if (step.kind === 'remove') await client.deleteWatch(step.watch.watch_id);
}

function describePlan(steps: readonly Step[]): string[] {
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  const lines = steps.flatMap((step) => {
    if (step.kind === 'create') return [`+ create "${step.name}"`];
    if (step.kind === 'change') return [`~ change "${step.name}": ${step.changes.join('; ')}`];
    return step.kind === 'remove' ? [`- remove "${step.name}"`] : [];
  });
  const kept = count('keep') === 0 ? '' : `, ${count('keep')} not in the file (--prune removes them)`;
  return [...lines, `${lines.length} to change, ${count('unchanged')} unchanged${kept}`];
}
