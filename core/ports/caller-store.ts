import type { Caller, SecretVersions } from '../records/caller.ts';

/** Where callers are kept. Any method may throw `TransientError` with its effect done or not: repeating it is safe. */
export interface CallerStore {
  /** Harmless where there is one of that name: it stays as it is. */
  add(caller: Caller): Promise<void>;
  find(caller: string): Promise<Caller | undefined>;
  /** Names above `after` in code unit order, at most `limit`. */
  list(after: string, limit: number): Promise<Caller[]>;
  /** 'outdated': the caller is not there, or its newest version is another one than that; nothing was changed. */
  replaceSecret(
    caller: string,
    expectedVersion: number,
    secret: SecretVersions,
  ): Promise<'replaced' | 'outdated'>;
}
