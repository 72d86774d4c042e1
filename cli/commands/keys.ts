import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dataPaths } from '../../adapters/embedded/data-directory.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { createKeyStore } from '../../adapters/embedded/key-store.ts';
import { hashOfKey, mintKey } from '../../core/api-key.ts';
import type { KeyPrimitives } from '../../core/api-key.ts';
import type { ApiKey } from '../../core/key.ts';
import type { KeyStore } from '../../core/ports/key-store.ts';
import { CommandError } from '../command-error.ts';
import type { Terminal } from '../terminal.ts';

const primitives: KeyPrimitives = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  randomBytes: (length) => randomBytes(length),
};

const callerName = /^[\w.@-]{1,64}$/;

export type KeyWish = { caller: string; internal: boolean; label: string | null };

/** `watchpost keys create`: the key is shown once; only its hash is stored. Works beside a running service. */
export async function createKey(
  dataDir: string,
  wish: KeyWish,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  const { caller, label } = wish;
  if (!callerName.test(caller)) {
    throw new CommandError(
      `${JSON.stringify(caller)} is no name for a caller`,
      'Give --caller 1 to 64 letters, digits, or any of . _ @ -',
    );
  }
  await withKeys(dataDir, async (keys) => {
    const { text, key } = mintKey(
      { caller, label, scopes: wish.internal ? ['jobs', 'internal'] : ['jobs'] },
      new Date(),
      primitives,
    );
    await keys.put(key);
    if (asJson) terminal.print(JSON.stringify({ key: text, ...shown(key) }));
    else {
      terminal.note(
        `A key for ${caller}. It is shown only now: keep it on a server, never in a page or a repository.`,
      );
      terminal.print(text);
    }
  });
}

export async function listKeys(
  dataDir: string,
  caller: string | undefined,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (keys) => {
    const found = (await keys.list(caller)).map(shown);
    if (asJson) terminal.print(JSON.stringify(found));
    else if (found.length === 0) terminal.note('No keys yet: make one with keys create.');
    else for (const key of found) terminal.print(lineFor(key));
  });
}

/** `which` is the key itself or its prefix as `keys list` shows it. It holds at once in a running service. */
export async function revokeKey(
  dataDir: string,
  which: string,
  terminal: Terminal,
  asJson: boolean,
): Promise<void> {
  await withKeys(dataDir, async (keys) => {
    const hash = hashOfKey(which, primitives);
    const matches = (await keys.list()).filter((key) => key.hash === hash || key.prefix === which);
    const [key] = matches;
    if (!key || matches.length > 1) throw ambiguous(which, matches.length);
    await keys.revoke(key.hash, new Date());
    if (asJson) terminal.print(JSON.stringify({ revoked: key.prefix }));
    else terminal.print(`Revoked ${key.prefix}… of ${key.caller}.`);
  });
}

async function withKeys(dataDir: string, work: (keys: KeyStore) => Promise<void>): Promise<void> {
  const paths = dataPaths(dataDir);
  await mkdir(paths.path, { recursive: true, mode: 0o700 });
  const database = openDatabase(paths.database);
  try {
    await work(createKeyStore(database));
  } finally {
    database.close();
  }
}

function shown({ prefix, caller, scopes, label, created_at, last_used_at, revoked_at }: ApiKey) {
  return { prefix, caller, scopes, label, created_at, last_used_at, revoked_at };
}

function lineFor(key: ReturnType<typeof shown>): string {
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
