import type { Command } from 'commander';
import { z } from 'zod';
import { addService, openService } from '../target/target-options.ts';
import { readFile } from 'node:fs/promises';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import {
  RequestInvalidError,
  WatchpostError,
  type Watchpost,
  type Watch,
  type WatchPatch,
  type WatchRequest as WatchBody,
} from '../../client/index.ts';
import { createFingerprint } from '../../core/watch/create-watch.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';
import { listAllWatches } from '../watches/find-watch.ts';
import { readWatchFile } from '../watches/read-watch-file.ts';
import { isDeepStrictEqual } from 'node:util';
import { watchConfigSchema } from '../../core/records/watch.ts';
import type { WatchRequest } from '../../core/requests/watches.ts';
import { splitRequest, type Fingerprint } from '../../core/watch/watch-config.ts';

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

/** Step of `watchpost watch apply`. `changes` describes each changed field without secrets. */
type Step =
  | { kind: 'create'; name: string; request: WatchBody }
  | { kind: 'change'; name: string; watch: Watch; patch: WatchPatch; changes: string[] }
  | { kind: 'unchanged'; name: string }
  | { kind: 'remove'; name: string; watch: Watch }
  | { kind: 'keep'; name: string };

/**
 * Compares the watches of a file with those of the service by name. With `prune`, watches that the file lacks are
 * removed. Removals come before creations, which need their room. Throws `CommandError` if the service has two watches
 * of a wanted name.
 */
function planChanges(
  wanted: readonly WatchRequest[],
  existing: readonly Watch[],
  fingerprint: Fingerprint,
  prune: boolean,
): Step[] {
  const names = new Set(wanted.map(({ name }) => name));
  const others = existing.filter(({ name }) => !names.has(name));
  const steps = wanted.map((request): Step => {
    const { name } = request;
    const [watch, second] = existing.filter((candidate) => candidate.name === name);
    if (watch === undefined) return { kind: 'create', name, request: toBody(request) };
    if (second !== undefined)
      throw new CommandError(
        `The service has several watches named "${name}"`,
        `Rename or remove one of them: ${watch.watch_id}, ${second.watch_id}.`,
      );
    const { patch, changes } = compare(request, watch, fingerprint);
    return changes.length === 0
      ? { kind: 'unchanged', name }
      : { kind: 'change', name, watch, patch, changes };
  });
  const rest = others.map((watch): Step =>
    prune ? { kind: 'remove', name: watch.name, watch } : { kind: 'keep', name: watch.name },
  );
  const order = ['remove', 'change', 'create', 'unchanged', 'keep'];
  return [...steps, ...rest].toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

function isChange(step: Step): boolean {
  return step.kind === 'create' || step.kind === 'change' || step.kind === 'remove';
}

/** Returns the body of a request, without absent fields. */
function toBody({
  evidence_clip: clip,
  ...request
}: WatchRequest): WatchBody & Required<Pick<WatchBody, 'conditions' | 'destinations'>> {
  return {
    ...request,
    ...(clip !== undefined && { evidence_clip: clip }),
    conditions: request.conditions.map(({ condition_id: id, ...rest }) => ({
      ...rest,
      ...(id !== undefined && { condition_id: id }),
    })),
    destinations: request.destinations.map(
      ({ destination_id: id, url, routing_key: routingKey, token, to, ...rest }) => ({
        ...rest,
        ...(id !== undefined && { destination_id: id }),
        ...(url !== undefined && { url }),
        ...(routingKey !== undefined && { routing_key: routingKey }),
        ...(token !== undefined && { token }),
        ...(to !== undefined && { to }),
      }),
    ),
  };
}

function compare(request: WatchRequest, watch: Watch, fingerprint: Fingerprint) {
  const { config } = splitRequest(request, fingerprint, {
    memoryDays: watch.memory_days,
    evidenceClip: watch.evidence_clip,
  });
  const isSameStream =
    watch.stream_fingerprint !== null && watch.stream_fingerprint === fingerprint(request.stream_url);
  const body = toBody(request);
  const patch: WatchPatch = isSameStream ? {} : { stream_url: request.stream_url };
  const changes = isSameStream ? [] : ['stream_url'];
  for (const field of watchConfigSchema.keyof().options) {
    if (isDeepStrictEqual(config[field], watch[field])) continue;
    Object.assign(patch, { [field]: body[field] });
    changes.push(describeChange(field, watch[field], config[field]));
  }
  return { patch, changes };
}

function describeChange(field: string, before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) return describeEntries(field, before, after);
  if (!isPlain(before) || !isPlain(after)) return field;
  return `${field} ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** Describes changed conditions and destinations by their id. */
function describeEntries(field: string, before: readonly unknown[], after: readonly unknown[]): string {
  const [old, next] = [byId(before), byId(after)];
  const added = [...next.keys()].filter((id) => !old.has(id)).map((id) => `+${id}`);
  const changed = [...next]
    .filter(([id, entry]) => old.has(id) && !isDeepStrictEqual(entry, old.get(id)))
    .map(([id]) => `~${id}`);
  const removed = [...old.keys()].filter((id) => !next.has(id)).map((id) => `-${id}`);
  const all = [...added, ...changed, ...removed];
  return all.length === 0 ? field : `${field} ${all.join(' ')}`;
}

function byId(entries: readonly unknown[]): Map<string, unknown> {
  return new Map(
    entries.flatMap((entry): [string, unknown][] => {
      if (typeof entry !== 'object' || entry === null) return [];
      if ('condition_id' in entry) return [[String(entry.condition_id), entry]];
      return 'destination_id' in entry ? [[String(entry.destination_id), entry]] : [];
    }),
  );
}
