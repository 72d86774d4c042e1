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
