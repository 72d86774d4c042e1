import type { Api } from '../api/api.ts';
import { Problem } from '../api/problem.ts';
import type { Key } from '../api/types.ts';

/** Finds the metadata of a key, with its scopes, in the list of its caller. Throws `Problem` if the key is not in it. */
export async function identify(keyText: string, api: Api): Promise<Key> {
  const keys = await api.keys();
  const mine = keys.filter((key) => key.revoked_at === null && keyText.startsWith(key.prefix));
  // A prefix has 48 random bits. If two keys of a caller share one, the key that was used last is the key in use.
  const [newest] = mine.toSorted((a, b) => (b.last_used_at ?? '').localeCompare(a.last_used_at ?? ''));
  if (newest) return newest;
  const rotated = keys.find((key) => keyText.startsWith(key.prefix));
  if (rotated) return rotated;
  throw new Problem(
    0,
    'UNKNOWN_KEY',
    'This key is not in its caller’s list',
    'Sign in with another key, or request one from an administrator.',
  );
}
