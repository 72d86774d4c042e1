import { InvalidArgumentError, Option, type Command } from 'commander';
import { z } from 'zod';
import { scopeSchema, type Scope } from '../../core/records/key.ts';
import { keyRotationQuerySchema } from '../../core/requests/keys.ts';
import type { Terminal } from '../terminal.ts';
import { wantsJson } from './parse-options.ts';
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
      const { createKey } = await import('../commands/keys.ts');
      await createKey(parseTarget(raw), { caller, newCaller, scopes, label }, terminal, wantsJson(raw));
    });

  addPlace(keys.command('list').description('list keys without their text'))
    .option('--caller <name>', 'caller whose keys are listed; default: all')
    .option('--json', 'print the keys as JSON')
    .action(async (raw: unknown) => {
      const { listKeys } = await import('../commands/keys.ts');
      await listKeys(parseTarget(raw), keyOptions.parse(raw).caller, terminal, wantsJson(raw));
    });

  addPlace(keys.command('revoke <key>').description('revoke a key, by its text or prefix'))
    .option('--descendants', 'also revoke keys that it created, directly or indirectly')
    .option('--json', 'print the revoked keys as JSON')
    .action(async (key: string, raw: unknown) => {
      const { revokeKey } = await import('../commands/keys.ts');
      await revokeKey(parseTarget(raw), key, keyOptions.parse(raw).descendants, terminal, wantsJson(raw));
    });

  addPlace(keys.command('label <key> <text>').description('change the label of a key'))
    .option('--json', 'print the key as JSON, without its text')
    .action(async (key: string, text: string, raw: unknown) => {
      const { labelKey } = await import('../commands/keys.ts');
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
      const { rotateKey } = await import('../commands/keys.ts');
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
