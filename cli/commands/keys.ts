import { hashApiKey } from '../../core/access/api-key.ts';
import { callerRequestSchema, keyRotationQuerySchema } from '../../core/requests/keys.ts';
import { CommandError } from '../command-error.ts';
import { findNearestName } from '../../core/nearest-name.ts';
import { nodeKeyCrypto } from '../../adapters/machine.ts';
import type { Key, NewKey } from '../../client/index.ts';
import { listCallerNames, readPages, withOperator } from '../target/operator.ts';
import type { Operator } from '../target/stored-operator.ts';
import { oneLine, type Terminal } from '../terminal.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { scopeSchema, type Scope } from '../../core/records/key.ts';
import { wantsJson } from '../parse-options.ts';
import { addPlace } from '../target/target-options.ts';

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

/** Adds `watchpost keys`: the endpoints below `/keys`, for operators. */
export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .description("manage API keys of this machine's service, or of the service in the options");

  addCreate(keys, terminal);

  addPlace(keys.command('list').description('list keys without their text'))
    .option('--caller <name>', 'caller whose keys are listed; default: all')
    .option('--json', 'print the keys as JSON')
    .action(async (raw: unknown) => {
      const { caller } = keyOptions.parse(raw);
      await withOperator(raw, async (operator) => {
        const matching = await listKeys(operator, caller);
        if (wantsJson(raw)) terminal.print(JSON.stringify(matching));
        else if (matching.length === 0) terminal.note(await describeNoKeys(caller, operator));
        else for (const key of matching) terminal.print(lineFor(key));
      });
    });

  addPlace(keys.command('revoke <key>').description('revoke a key, by its text or prefix'))
    .option('--descendants', 'also revoke keys that it created, directly or indirectly')
    .option('--json', 'print the revoked keys as JSON')
    .action(async (which: string, raw: unknown) => {
      const { descendants } = keyOptions.parse(raw);
      await withOperator(raw, async (operator) => {
        const key = await operator.revokeKey(await findId(which, operator), { descendants });
        if (wantsJson(raw)) terminal.print(JSON.stringify(key));
        else
          for (const each of [key, ...(key.descendants ?? [])])
            terminal.print(`Revoked ${each.prefix}… of ${each.caller}.`);
      });
    });

  addPlace(keys.command('label <key> <text>').description('change the label of a key'))
    .option('--json', 'print the key as JSON, without its text')
    .action(async (which: string, text: string, raw: unknown) => {
      await withOperator(raw, async (operator) => {
        const label = text === '' ? null : text;
        const key = await operator.labelKey(await findId(which, operator), { label });
        terminal.print(wantsJson(raw) ? JSON.stringify(key) : lineFor(key));
      });
    });

  addRotate(keys, terminal);
}

function addCreate(keys: Command, terminal: Terminal): void {
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
      requireCallerName(caller);
      await withOperator(raw, async (operator) => {
        const callers = await listCallerNames(operator);
        if (!callers.includes(caller)) {
          if (!newCaller) await confirmCaller(caller, callers, terminal);
          await operator.addCaller({ caller });
        }
        show(await operator.createKey({ caller, scopes, label }), terminal, wantsJson(raw));
      });
    });
}

function addRotate(keys: Command, terminal: Terminal): void {
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
    .action(async (which: string, raw: unknown) => {
      const { graceSeconds, descendants } = keyOptions.parse(raw);
      await withOperator(raw, async (operator) => {
        const id = await findId(which, operator);
        const created = await operator.rotateKey(id, { grace_seconds: graceSeconds, descendants });
        const { replaces: old } = created;
        if (!wantsJson(raw))
          for (const each of [old, ...(old.descendants ?? [])])
            terminal.note(`${each.prefix}… is valid until ${each.revoked_at}.`);
        show(created, terminal, wantsJson(raw));
      });
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

function requireCallerName(caller: string): void {
  if (!callerRequestSchema.safeParse({ caller }).success)
    throw new CommandError(
      `${JSON.stringify(caller)} is not a valid caller name`,
      'Use --caller with 1 to 64 letters, digits, or any of . _ @ -',
    );
}

/**
 * Confirms a new caller at a terminal: a mistyped name would create a caller whose jobs no key lists. Throws
 * `CommandError`.
 */
async function confirmCaller(caller: string, callers: string[], terminal: Terminal): Promise<void> {
  const nearest = findNearestName(caller, callers);
  const suggestion = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  if (await terminal.confirm(`There is no caller ${caller}.${suggestion} Create it?`)) return;
  throw new CommandError(
    `There is no caller ${caller}.${suggestion}`,
    `Use --caller with the name of a caller, or --new-caller to create ${caller}.`,
  );
}

async function listKeys(operator: Operator, caller?: string): Promise<Key[]> {
  const filter = caller === undefined ? {} : { caller };
  const pages = await readPages((position) => operator.listKeys({ ...filter, ...position }));
  return pages.flatMap(({ keys }) => keys);
}

async function describeNoKeys(caller: string | undefined, operator: Operator): Promise<string> {
  const nearest = caller === undefined ? undefined : findNearestName(caller, await listCallerNames(operator));
  return nearest === undefined || nearest === caller
    ? 'No keys. Create one with keys create.'
    : `No keys of ${caller}. Did you mean ${nearest}?`;
}

/** Resolves a key, key id or prefix to the key id. Over HTTP, prefixes are limited to the keys of the caller. */
async function findId(which: string, operator: Operator): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which;
  const whole = hashApiKey(which, nodeKeyCrypto);
  if (whole !== undefined) return whole;
  const matches = (await listKeys(operator)).filter(({ prefix }) => prefix === which);
  const [key] = matches;
  if (!key || matches.length > 1) throw ambiguous(which, matches.length);
  return key.key_id;
}

function show(created: NewKey, terminal: Terminal, asJson: boolean): void {
  if (asJson) terminal.print(JSON.stringify(created));
  else {
    terminal.note(
      `API key of ${created.caller}, shown only once. Keep it on a server, never in a web page or repository.`,
    );
    terminal.print(created.key);
  }
}

function lineFor(key: Key): string {
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
