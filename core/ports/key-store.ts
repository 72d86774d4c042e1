import type { ApiKey } from '../records/key.ts';

export interface KeyStore {
  /** Stores a key without a limit, for keys that the operator creates. */
  put(key: ApiKey): Promise<void>;
  /**
   * Stores a key in one transaction with two checks. Returns 'full' if the caller has `maxGood` valid keys,
   * 'maker_revoked' if the key that creates it was revoked or replaced. A repeated creation counts once.
   */
  create(key: ApiKey, maxGood: number): Promise<'created' | 'full' | 'maker_revoked'>;
  find(hash: string): Promise<ApiKey | undefined>;
  /** Returns a page of keys, oldest first, including revoked keys until they are deleted. */
  list(page: KeyPage): Promise<ApiKey[]>;
  /** Returns the keys that this key created directly, in any order. */
  listMadeBy(hash: string): Promise<ApiKey[]>;
  /**
   * Returns the creation time of a caller's key by position, 0 for the newest; undefined if the caller has fewer keys.
   */
  creationTime(caller: string, position: number): Promise<Date | undefined>;
  /**
   * Revokes a key at a time, which may be in the future; the earliest time applies. Deletes the key `revokedKeySeconds`
   * later.
   */
  revoke(hash: string, time: Date): Promise<void>;
  relabel(hash: string, label: string | null): Promise<void>;
  touch(hash: string, time: Date): Promise<void>;
  /** Stores the first use of a valid key, once: returns false if it was used before, was revoked or is unknown. */
  claim(hash: string, time: Date): Promise<boolean>;
}

/** Filter and page of `list`. */
export type KeyPage = {
  /** Absent: keys of all callers. */
  caller?: string | undefined;
  /** Position after which the page begins. */
  after?: KeyPosition | undefined;
  limit: number;
};

/** Position of a key in the order of creation. */
export type KeyPosition = Pick<ApiKey, 'created_at' | 'hash'>;

/** Retention of revoked keys, in seconds: after a leak the operator needs their last use. */
export const revokedKeySeconds = 30 * 86_400;
