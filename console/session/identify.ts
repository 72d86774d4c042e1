import type { Api } from '../api/api.ts';
import { Problem } from '../api/problem.ts';
import type { Key } from '../api/types.ts';

/** Which of its caller's keys this is, and so what it may do. Throws `Problem` for one that the service does not know. */
export async function identify(keyText: string, api: Api): Promise<Key> {
  const keys = await api.keys();
  const mine = keys.filter((key) => key.revoked_at === null && keyText.startsWith(key.prefix));
  // Two keys of a caller with one prefix (48 random bits) do not happen; then the one that was used last is the one in use.
  const [newest] = mine.toSorted((a, b) => (b.last_used_at ?? '').localeCompare(a.last_used_at ?? ''));
  if (newest) return newest;
  const rotated = keys.find((key) => keyText.startsWith(key.prefix));
  if (rotated) return rotated;
  throw new Problem(
    0,
    'UNKNOWN_KEY',
    'This key is not in its caller’s list',
    'Sign in with another key, or ask an administrator for one.',
  );
}
