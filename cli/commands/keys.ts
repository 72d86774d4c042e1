import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createCallerStore } from '../../adapters/embedded/caller-store.ts';
import { dataPaths } from '../../adapters/embedded/data-directory.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { createKeyStore } from '../../adapters/embedded/key-store.ts';
import { hashOfKey } from '../../core/api-key.ts';
import type { KeyPrimitives } from '../../core/api-key.ts';
import type { ApiKey, Scope } from '../../core/key.ts';
import { operator } from '../../core/key-rights.ts';
import { addCaller } from '../../core/operations/callers.ts';
import {
  createKey as create,
  listKeys as list,
  relabelKey as relabel,
  revokeKey as revoke,
  rotateKey as rotate,
} from '../../core/operations/keys.ts';
import type { CreatedKey, KeyNeeds } from '../../core/operations/keys.ts';
import { presentKey, presentNewKey } from '../../core/operations/present-key.ts';
import { callerRequestSchema } from '../../core/requests/keys.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';

/** `watchpost keys`: what the endpoints below `/keys` do, for who can write the data directory; beside a running service too. */

const primitives: KeyPrimitives = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  randomBytes: (length) => randomBytes(length),
};

export type KeyWish = { caller: string; scopes: Scope[]; label: string | null };

/** The key is shown once; only its hash is stored. Makes its caller where there is none of that name. */
export async function createKey(
  dataDir: string,
  wish: KeyWish,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  const { caller } = wish;
  if (!callerRequestSchema.safeParse({ caller }).success) {
    throw new CommandError(
      `${JSON.stringify(caller)} is no name for a caller`,
      'Give --caller 1 to 64 letters, digits, or any of . _ @ -',
    );
  }
  await withKeys(dataDir, async (c) => {
    await addCaller({ caller, label: null }, c);
    show(await create(operator, wish, c), terminal, asJson);
  });
}

export async function listKeys(
  dataDir: string,
  caller: string | undefined,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (c) => {
    const found = await list(operator, caller, c);
    if (asJson) terminal.print(JSON.stringify(found.map(presentKey)));
    else if (found.length === 0) terminal.note('No keys yet: make one with keys create.');
    else for (const key of found) terminal.print(lineFor(key));
  });
}

export async function labelKey(
  dataDir: string,
  which: string,
  label: string,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (c) => {
    const key = await relabel(operator, await idOf(which, c), label === '' ? null : label, c);
    terminal.print(asJson ? JSON.stringify(presentKey(key)) : lineFor(key));
  });
}

/** It holds at once in a running service. */
export async function revokeKey(
  dataDir: string,
  which: string,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (c) => {
    const key = await revoke(operator, await idOf(which, c), c);
    terminal.print(asJson ? JSON.stringify(presentKey(key)) : `Revoked ${key.prefix}… of ${key.caller}.`);
  });
}

/** The successor is shown once; the old key stays good for the grace period. */
export async function rotateKey(
  dataDir: string,
  which: string,
  graceSeconds: number,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (c) => {
    const { old, ...created } = await rotate(operator, await idOf(which, c), graceSeconds, c);
    if (!asJson) terminal.note(`${old.prefix}… is good until ${old.revoked_at}.`);
    show(created, terminal, asJson);
  });
}

async function withKeys(dataDir: string, work: (c: KeyNeeds) => Promise<void>): Promise<void> {
  const paths = dataPaths(dataDir);
  await mkdir(paths.path, { recursive: true, mode: 0o700 });
  const database = openDatabase(paths.database);
  try {
    await work({
      keys: createKeyStore(database),
      callers: createCallerStore(database),
      now: () => new Date(),
      ...primitives,
    });
  } finally {
    database.close();
  }
}

/** `which` is the key itself, its id, or its prefix as `keys list` shows it. */
async function idOf(which: string, c: KeyNeeds): Promise<string> {
  const id = hashOfKey(which, primitives) ?? which;
  const matches = (await list(operator, undefined, c)).filter(
    ({ hash, prefix }) => hash === id || prefix === which,
  );
  const [key] = matches;
  if (!key || matches.length > 1) throw ambiguous(which, matches.length);
  return key.hash;
}

function show(created: CreatedKey, terminal: Terminal, asJson: boolean): void {
  if (asJson) terminal.print(JSON.stringify(presentNewKey(created)));
  else {
    terminal.note(
      `A key for ${created.key.caller}. It is shown only now: keep it on a server, never in a page or a repository.`,
    );
    terminal.print(created.text);
  }
}

function lineFor(key: ApiKey): string {
  const state =
    key.revoked_at === null ? `last used ${key.last_used_at ?? 'never'}` : `revoked ${key.revoked_at}`;
  return [
    `${key.prefix}…`,
    key.caller,
    key.scopes.join('+'),
    key.label ?? '-',
    `created ${key.created_at}`,
    state,
  ].join('  ');
}

function ambiguous(which: string, matches: number): CommandError {
  return matches === 0
    ? new CommandError(`No key is or begins with ${which.slice(0, 11)}`, 'See the prefixes with keys list.')
    : new CommandError(`${matches} keys begin with ${which.slice(0, 11)}`, 'Give the whole key.');
}
