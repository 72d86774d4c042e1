/**
 * Limit of concurrent probes and captures. Callers take turns: many waiting calls of one caller do not delay the first
 * call of another.
 */
export interface StreamTurns {
  /** Waits for a turn. Returns undefined after the timeout; throws the abort reason. */
  take(caller: string, signal?: AbortSignal): Promise<StreamTurn | undefined>;
}

/** Turns without a limit, for hosts that run and limit captures elsewhere. */
export const unlimitedTurns: StreamTurns = { take: async () => ({ end: () => undefined }) };

/** Permit for one probe or capture. */
export type StreamTurn = {
  /** Ends the turn. Repeatable. */
  end(): void;
};
