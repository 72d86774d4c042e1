/** Does `work` in a turn of ffmpeg. Throws `TransientError` if none is free in time, and the abort reason. */
export type InTurn = <Result>(work: () => Promise<Result>, signal: AbortSignal) => Promise<Result>;

/** Does the work immediately, for commands and functions that run one ffmpeg at a time. */
export const withoutTurns: InTurn = (work) => work();
