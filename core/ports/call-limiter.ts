/**
 * Bounds how often a caller uses the endpoints that request something of other machines while the caller waits: streams, the model, webhook
 * receivers (design section 10). Creating a job is one of them.
 */
export interface CallLimiter {
  /** Takes a place for one call. A refused call takes none, so that who asks too often is not shut out for good. */
  admit(caller: string): Promise<Admission>;
}

export type Admission =
  | {
      kind: 'admitted';
      /** When the call is answered; harmless when repeated. */
      release(): Promise<void>;
    }
  | { kind: 'refused'; limit: 'per minute' | 'concurrency'; max: number; retryAfterSeconds: number };
