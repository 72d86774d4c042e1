import type { ApiKey } from '../records/key.ts';

export interface KeyStore {
  /** Without a limit: for keys that the machine makes for itself. */
  put(key: ApiKey): Promise<void>;
  /**
   * Puts a key unless its caller has that many that are good at its creation, or the key that makes it was revoked or replaced: decided and written as
   * one. A repeated creation is one.
   */
  create(key: ApiKey, maxGood: number): Promise<'created' | 'full' | 'maker_revoked'>;
  find(hash: string): Promise<ApiKey | undefined>;
  /** Oldest first, revoked ones too, while they are kept. */
  list(page: KeyPage): Promise<ApiKey[]>;
  /** Those that this key made itself, in any order. */
  listMadeBy(hash: string): Promise<ApiKey[]>;
  /** When the caller's newest key but `position` was made (0: the newest). */
  creationTime(caller: string, position: number): Promise<Date | undefined>;
  /** Ends a key at that moment, which may be to come. Of several ends the earliest holds. It is kept for `revokedKeySeconds` after it. */
  revoke(hash: string, at: Date): Promise<void>;
  relabel(hash: string, label: string | null): Promise<void>;
  touch(hash: string, at: Date): Promise<void>;
}

export type KeyPage = {
  /** Left out: every caller's. */
  caller?: string | undefined;
  /** Where the page begins: behind this key. */
  after?: KeyPosition | undefined;
  limit: number;
};

export type KeyPosition = Pick<ApiKey, 'created_at' | 'hash'>;

/** How long a revoked key can still be read: its last use is asked for after a leak. */
export const revokedKeySeconds = 30 * 86_400;
