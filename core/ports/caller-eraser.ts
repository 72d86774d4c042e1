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
