import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hashApiKey, mintKey, type KeyCrypto } from '../core/access/api-key.ts';
import { newCaller } from '../core/records/caller.ts';
import type { Scope } from '../core/records/key.ts';
import type { CallerStore, KeyStore } from '../core/ports/callers.ts';

/**
 * Content of `watchpost.json` in the data directory: what a script needs to call the service on this machine. Mode
 * 0600.
 */
const credentialsSchema = z.object({
  base_url: z.string(),
  pid: z.number(),
  api_key: z.string(),
  internal_api_key: z.string(),
  webhook_secret: z.string(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export type CredentialDeps = KeyCrypto & { keys: KeyStore; callers: CallerStore; now: () => Date };

export const defaultCaller = 'default';

/** Returns the keys of the file, and creates missing or revoked ones, so that scripts keep their key over restarts. */
export async function prepareKeys(
  dataDir: string,
  deps: CredentialDeps,
): Promise<Pick<Credentials, 'api_key' | 'internal_api_key'>> {
  await deps.callers.add(newCaller(defaultCaller, null, deps.now()));
  const before = await readCredentials(dataDir);
  return {
    api_key: await keepOrMint(before?.api_key, ['jobs', 'keys'], 'first key', deps),
    internal_api_key: await keepOrMint(
      before?.internal_api_key,
      ['jobs', 'keys', 'internal', 'admin'],
      'first internal key',
      deps,
    ),
  };
}

export async function writeCredentials(dataDir: string, credentials: Credentials): Promise<void> {
  const partial = `${credentialsFile(dataDir)}.part`;
  // A file left by a crash or created by another user would keep its mode, and so its readers.
  await rm(partial, { force: true });
  await writeFile(partial, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(partial, credentialsFile(dataDir));
}

export function credentialsFile(dataDir: string): string {
  return join(dataDir, 'watchpost.json');
}

/**
 * Reads the credentials of the service on this machine. Returns undefined if it has never started, or the file is
 * damaged.
 */
export async function readCredentials(dataDir: string): Promise<Credentials | undefined> {
  try {
    const parsed = credentialsSchema.safeParse(JSON.parse(await readFile(credentialsFile(dataDir), 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Missing at the first start, or damaged: new keys are created in both cases.
    return undefined;
  }
}

async function keepOrMint(
  text: string | undefined,
  scopes: Scope[],
  label: string,
  deps: CredentialDeps,
): Promise<string> {
  const hash = text === undefined ? undefined : hashApiKey(text, deps);
  const stored = hash === undefined ? undefined : await deps.keys.find(hash);
  if (text !== undefined && stored && stored.revoked_at === null) return text;
  const minted = mintKey({ caller: defaultCaller, scopes, label }, deps.now(), deps);
  await deps.keys.put(minted.key);
  return minted.text;
}
