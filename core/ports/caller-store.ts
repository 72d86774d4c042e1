import type { Caller, SecretVersions } from '../records/caller.ts';

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
