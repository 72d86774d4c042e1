/** Bounds how often a caller uses the endpoints that ask the model at once, and thereby what that may cost (design section 10). */
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
  | { kind: 'refused'; limit: 'per minute' | 'at once'; most: number; retryAfterSeconds: number };
