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
