import type { Caller, SecretVersions } from '../records/caller.ts';
import type { ApiKey } from '../records/key.ts';

/** Storage of callers. Each method may throw `TransientError`, with or without its effect: a repetition is safe. */
export interface CallerStore {
  /** Adds the caller; does nothing if the name exists. */
  add(caller: Caller): Promise<void>;
  find(caller: string): Promise<Caller | undefined>;
  /** Returns at most `limit` callers with names above `after`, in code unit order. */
  list(after: string, limit: number): Promise<Caller[]>;
  /** Replaces the secret. Returns 'outdated', without a change, if the caller does not exist or has another version. */
  replaceSecret(
    caller: string,
    expectedVersion: number,
    secret: SecretVersions,
  ): Promise<'replaced' | 'outdated'>;
  /** Replaces the default filter of webhook events; the last change wins. Does nothing if the caller does not exist. */
  setWebhookEvents(caller: string, events: Caller['webhook_events']): Promise<void>;
}

/** Job or watch of a caller, with what exists outside of the records: its execution and the folder of its media. */
export type CallerWork = {
  kind: 'job' | 'watch';
  id: string;
  generation: number;
  sourceId: string;
};

/** Removal of everything that is stored for a caller. Each method may throw `TransientError`; a repetition is safe. */
export interface CallerEraser {
  /** Removes the keys of the caller, so that no new request is accepted. Returns how many. */
  removeKeys(caller: string): Promise<number>;
  /** Returns at most `limit` jobs and watches, also expired and deleted ones. */
  listWork(caller: string, limit: number): Promise<CallerWork[]>;
  /** Removes a job or a watch with its source, log, alerts, deliveries and statistics. */
  removeWork(caller: string, work: CallerWork): Promise<void>;
  /** Removes the caller and all that remains, and overwrites what was removed where the storage would keep it. */
  removeCaller(caller: string): Promise<void>;
}

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

/**
 * Rate and concurrency limit per caller of the endpoints that send requests to other machines while the caller waits:
 * streams, the model, webhook receivers. Job creation is one of them.
 */
export interface CallLimiter {
  /**
   * Takes a permit for one call. A refused call counts toward no limit, so that a caller that retries too often gets
   * through.
   */
  admit(caller: string): Promise<Admission>;
}

/** Decision about a call: admitted with a permit, or refused by one of the two limits. */
export type Admission =
  | {
      kind: 'admitted';
      /** Returns the permit after the call. Repeatable. */
      release(): Promise<void>;
    }
  | { kind: 'refused'; limit: 'per minute' | 'concurrency'; max: number; retryAfterSeconds: number };

/** Does work in the name of a caller: what all callers share then serves them in turn. */
export type AsCaller = <Result>(caller: string, work: () => Promise<Result>) => Promise<Result>;

const behind = '(behind checks) ';

/** Returns the name under which work of a caller waits for the checks of all. No caller can have it. */
export function behindChecks(caller: string): string {
  return `${behind}${caller}`;
}

export function isBehindChecks(name: string): boolean {
  return name.startsWith(behind);
}
