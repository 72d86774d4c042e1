import { hashApiKey } from '../../core/access/api-key.ts';
import type { ApiKeySpec } from '../../core/access/api-key.ts';
import { callerRequestSchema, keyRotationQuerySchema } from '../../core/requests/keys.ts';
import type { KeyRotation } from '../../core/requests/keys.ts';
import { CommandError } from '../command-error.ts';
import { findNearestName } from '../../core/nearest-name.ts';
import type { CreatedKeyRecord, KeyBackend, KeyRecord } from '../keys/key-backend.ts';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import { openKeyBackend } from '../keys/open-key-backend.ts';
import type { KeyTarget } from '../target/select-target.ts';
import { oneLine } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { scopeSchema } from '../../core/records/key.ts';
import type { Scope } from '../../core/records/key.ts';
import { wantsJson } from '../parse-options.ts';
import { addPlace, parseTarget } from '../target/target-options.ts';

const keyOptions = z.object({
  caller: z.string().optional(),
  scopes: z.array(scopeSchema).default([]),
  internal: z.boolean().default(false),
  newCaller: z.boolean().default(false),
  admin: z.boolean().default(false),
  graceSeconds: z.number().default(3600),
  descendants: z.boolean().default(false),
  label: z.string().nullable().default(null),
});

/** Adds `watchpost keys`. */
export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .description("manage API keys of this machine's service, or of the service in the options");

  addPlace(keys.command('create').description('create a key and print it once'))
    .requiredOption('--caller <name>', 'tenant that owns the key: letters, digits, and . _ @ -')
    .option('--new-caller', 'create the caller if it does not exist')
    .addOption(
      new Option(
        '--scopes <list>',
        'comma-separated scopes: read, jobs (includes read), keys, internal, admin',
      )
        .default(['jobs', 'keys'], 'jobs,keys')
        .argParser(parseScopes),
    )
    .option('--internal', 'adds the scope internal: read /metrics and /logs')
    .option('--admin', 'adds the scope admin: manage callers and their keys')
    .option('--label <text>', 'purpose of the key')
    .option('--json', 'print the key as JSON')
    .action(async (raw: unknown) => {
      const { caller = '', newCaller, internal, admin, label, scopes: listed } = keyOptions.parse(raw);
      const added = [...(internal ? (['internal'] as const) : []), ...(admin ? (['admin'] as const) : [])];
      const scopes = [...new Set([...listed, ...added])];
      await createKey(parseTarget(raw), { caller, newCaller, scopes, label }, terminal, wantsJson(raw));
    });

  addPlace(keys.command('list').description('list keys without their text'))
    .option('--caller <name>', 'caller whose keys are listed; default: all')
    .option('--json', 'print the keys as JSON')
    .action(async (raw: unknown) => {
      await listKeys(parseTarget(raw), keyOptions.parse(raw).caller, terminal, wantsJson(raw));
    });

  addPlace(keys.command('revoke <key>').description('revoke a key, by its text or prefix'))
    .option('--descendants', 'also revoke keys that it created, directly or indirectly')
    .option('--json', 'print the revoked keys as JSON')
    .action(async (key: string, raw: unknown) => {
      await revokeKey(parseTarget(raw), key, keyOptions.parse(raw).descendants, terminal, wantsJson(raw));
    });

  addPlace(keys.command('label <key> <text>').description('change the label of a key'))
    .option('--json', 'print the key as JSON, without its text')
    .action(async (key: string, text: string, raw: unknown) => {
      await labelKey(parseTarget(raw), key, text, terminal, wantsJson(raw));
    });

  addPlace(
    keys
      .command('rotate <key>')
      .description('create a successor; the old key stays valid for the grace period'),
  )
    .addOption(
      new Option(
        '--grace-seconds <seconds>',
        'grace period of the old key in seconds; 0 revokes it immediately',
      )
        .default(3600)
        .argParser(parseGraceSeconds),
    )
    .option('--descendants', 'also end keys that it created, directly or indirectly')
    .option('--json', 'print the new key as JSON')
    .action(async (key: string, raw: unknown) => {
      const { graceSeconds, descendants } = keyOptions.parse(raw);
      const rotation = { grace_seconds: graceSeconds, descendants };
      await rotateKey(parseTarget(raw), key, rotation, terminal, wantsJson(raw));
    });
}

function parseGraceSeconds(text: string): number {
  const parsed = keyRotationQuerySchema.safeParse({ grace_seconds: text });
  if (!parsed.success) throw new InvalidArgumentError('Use a whole number of seconds, at most a week.');
  return parsed.data.grace_seconds;
}

/** Parses a comma-separated list of scopes. Throws `InvalidArgumentError` for an unknown or missing scope. */
function parseScopes(text: string): Scope[] {
  const parsed = z.array(scopeSchema).safeParse(text.split(',').map((scope) => scope.trim()));
  if (!parsed.success) throw new InvalidArgumentError(`Use scopes of: ${scopeSchema.options.join(', ')}.`);
  return parsed.data;
}

/** Commands below `watchpost keys`: the endpoints below `/keys`, for operators. */

/** Creates a key, and its caller if it does not exist. Prints the key once; the service stores only its hash. */
export async function createKey(
  place: KeyTarget,
  spec: ApiKeySpec & { newCaller: boolean },
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  const { caller, newCaller, ...rest } = spec;
  if (!callerRequestSchema.safeParse({ caller }).success) {
    throw new CommandError(
      `${JSON.stringify(caller)} is not a valid caller name`,
      'Use --caller with 1 to 64 letters, digits, or any of . _ @ -',
    );
  }
  await withKeys(place, async (desk) => {
    if (!newCaller) await requireCaller(caller, await desk.callers(), terminal);
    show(await desk.create({ caller, ...rest }), terminal, asJson);
  });
}

/**
 * Confirms a new caller at a terminal: a mistyped name would create a caller whose jobs no key lists. Throws
 * `CommandError`.
 */
async function requireCaller(caller: string, callers: string[], terminal: Terminal): Promise<void> {
  if (callers.includes(caller)) return;
  const nearest = findNearestName(caller, callers);
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  if (await terminal.confirm(`There is no caller ${caller}.${suggestion} Create it?`)) return;
  throw new CommandError(
    `There is no caller ${caller}.${suggestion}`,
    `Use --caller with the name of a caller, or --new-caller to create ${caller}.`,
  );
}

/** Prints the keys of one caller or of all. */
export async function listKeys(
  place: KeyTarget,
  caller: string | undefined,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(place, async (desk) => {
    const matching = await desk.list(caller);
    if (asJson) terminal.print(JSON.stringify(matching));
    else if (matching.length === 0) terminal.note(await describeNoKeys(caller, desk));
    else for (const key of matching) terminal.print(lineFor(key));
  });
}

async function describeNoKeys(caller: string | undefined, desk: KeyBackend): Promise<string> {
  const nearest = caller === undefined ? undefined : findNearestName(caller, await desk.callers());
  return nearest === undefined || nearest === caller
    ? 'No keys. Create one with keys create.'
    : `No keys of ${caller}. Did you mean ${nearest}?`;
}

/** Changes the label of a key; an empty label removes it. */
export async function labelKey(
  place: KeyTarget,
  which: string,
  label: string,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(place, async (desk) => {
    const key = await desk.label(await findId(which, desk), label === '' ? null : label);
    terminal.print(asJson ? JSON.stringify(key) : lineFor(key));
  });
}

/** Revokes a key; a running service rejects it immediately. */
export async function revokeKey(
  place: KeyTarget,
  which: string,
  withDescendants: boolean,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(place, async (desk) => {
    const key = await desk.revoke(await findId(which, desk), withDescendants);
    if (asJson) terminal.print(JSON.stringify(key));
    else
      for (const each of [key, ...(key.descendants ?? [])])
        terminal.print(`Revoked ${each.prefix}… of ${each.caller}.`);
  });
}

/** Rotates a key and prints the new one once. The old key stays valid for the grace period, in seconds. */
export async function rotateKey(
  place: KeyTarget,
  which: string,
  rotation: KeyRotation,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(place, async (desk) => {
    const created = await desk.rotate(await findId(which, desk), rotation);
    const { replaces: old } = created;
    if (!asJson)
      for (const each of [old, ...(old.descendants ?? [])])
        terminal.note(`${each.prefix}… is valid until ${each.revoked_at}.`);
    show(created, terminal, asJson);
  });
}

async function withKeys(place: KeyTarget, work: (desk: KeyBackend) => Promise<void>): Promise<void> {
  const desk = await openKeyBackend(place);
  try {
    await work(desk);
  } finally {
    await desk.close();
  }
}

/** Resolves a key, key id or prefix to the key id. Over HTTP, prefixes are limited to the keys of the caller. */
async function findId(which: string, desk: KeyBackend): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which;
  const whole = hashApiKey(which, nodeKeyCrypto);
  if (whole !== undefined) return whole;
  const matches = (await desk.list()).filter(({ prefix }) => prefix === which);
  const [key] = matches;
  if (!key || matches.length > 1) throw ambiguous(which, matches.length);
  return key.key_id;
}

function show(created: CreatedKeyRecord, terminal: Terminal, asJson: boolean): void {
  if (asJson) terminal.print(JSON.stringify(created));
  else {
    terminal.note(
      `API key of ${created.caller}, shown only once. Keep it on a server, never in a web page or repository.`,
    );
    terminal.print(created.key);
  }
}

function lineFor(key: KeyRecord): string {
  const state =
    key.revoked_at === null ? `last used ${key.last_used_at ?? 'never'}` : `revoked ${key.revoked_at}`;
  return [
    `${key.prefix}…`,
    key.caller,
    key.scopes.join('+'),
    oneLine(key.label ?? '-'),
    `created ${key.created_at}`,
    state,
  ].join('  ');
}

function ambiguous(which: string, matches: number): CommandError {
  return matches === 0
    ? new CommandError(`No key matches ${which.slice(0, 11)}`, 'List the prefixes with keys list.')
    : new CommandError(`${matches} keys begin with ${which.slice(0, 11)}`, 'Use the whole key.');
}
