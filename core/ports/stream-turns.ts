/**
 * Bounds how many streams are probed and captured concurrently for calls, over all callers. Callers take turns: however many calls one of
 * them has waiting, the first call of another is next.
 */
export interface StreamTurns {
  /** Waits for a turn. Returns undefined if there was none in time. */
  take(caller: string): Promise<StreamTurn | undefined>;
}

/** For services whose captures run elsewhere, where their number is limited. */
export const unlimitedTurns: StreamTurns = { take: async () => ({ end: () => undefined }) };

export type StreamTurn = {
  /** Ends the turn; harmless when repeated. */
  end(): void;
};
