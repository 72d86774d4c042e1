import { MachineBusyError } from '../../../core/errors.ts';
import type { SetTimer } from '../../../core/time-limit.ts';
import type { ReportUse, ReportWait } from '../../fair-queue.ts';
import type { InTurn } from '../../media/ffmpeg/in-turn.ts';
import type { FfmpegRunner } from '../../media/ffmpeg/run-ffmpeg.ts';
import { createFairTurns } from './fair-turns.ts';
import { collectChunks } from '../../media/ffmpeg/spawn-ffmpeg.ts';

export type DecodeTurnsDeps = {
  /** Maximum concurrent runs of ffmpeg. */
  max: number;
  /** Further ones for callers that have none. Default: 1. */
  reserved?: number;
  /** Returns for whom a run is. Default: one caller for all. */
  currentCaller?: (() => string) | undefined;
  elapsedMs: () => number;
  setTimer: SetTimer;
  report: ReportWait;
  reportUse?: ReportUse | undefined;
  /** Default: 20 s. */
  maxWaitMs?: number;
};

/** Time of the machine that no check needs. */
export type SpareTime = { inTurn: InTurn; isBusy: () => boolean };

export type SpareTimeDeps = Pick<DecodeTurnsDeps, 'elapsedMs' | 'setTimer' | 'currentCaller'> & {
  cores: number;
  /** Returns the mean wait of checks. */
  lateSeconds: () => number;
};

/** Maximum wait for spare time. A check waits for it. */
const maxSpareWaitMs = 2_000;
/** Mean wait of checks from which no time is spare. An overload begins later, with a wait of an interval. */
const busyFromSeconds = 0.5;

/**
 * Maximum wait for a turn. It leaves time for the decoding within that of the capture, so that the stream is not
 * blamed.
 */
const defaultMaxWaitMs = 20_000;

/**
 * Returns a runner whose decodes take turns, fairly by caller. More would only slow each other down. A capture waits
 * once its bytes are there, so a slow stream delays no other. Runs that read from the network themselves have no limit.
 * Groups of pictures are decoded in spare time only.
 */
export function limitDecodes(ffmpeg: FfmpegRunner, inTurn: InTurn, spare?: SpareTime): FfmpegRunner {
  const { runEachSecond } = ffmpeg;
  return {
    ...(spare &&
      runEachSecond && {
        runEachSecond: (...call) => inSpareTime(spare, () => runEachSecond(...call), call[3]),
      }),
    run: async (input, wanted, limits, signal) => {
      if (input.kind !== 'pipe') return ffmpeg.run(input, wanted, limits, signal);
      const chunks = input.keyFrames ? input.chunks : await collectChunks(input.chunks);
      return inTurn(() => ffmpeg.run({ ...input, chunks }, wanted, limits, signal), signal);
    },
    runAll: (input, wanted, limits, signal) =>
      inTurn(() => ffmpeg.runAll(input, wanted, limits, signal), signal),
  };
}

/**
 * Creates the spare time of a machine: half of its cores, as long as checks are in time. It counts as no use: no check
 * would have it otherwise.
 */
export function createSpareTime(deps: SpareTimeDeps): SpareTime {
  const { cores, lateSeconds, currentCaller, elapsedMs, setTimer } = deps;
  const max = Math.max(1, Math.floor(cores / 2));
  const turns = { currentCaller, elapsedMs, setTimer, max, report: ignore, maxWaitMs: maxSpareWaitMs };
  return {
    inTurn: createDecodeTurns(turns),
    isBusy: () => lateSeconds() >= busyFromSeconds,
  };
}

function ignore(): void {}

/** Returns null if the machine has no time. */
async function inSpareTime<Result>(
  { inTurn, isBusy }: SpareTime,
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result | null> {
  if (isBusy()) return null;
  try {
    return await inTurn(work, signal);
  } catch (error) {
    if (error instanceof MachineBusyError) return null;
    throw error;
  }
}

/** Time that clips wait for each other: each is joined in some seconds. */
const maxJoinWaitMs = 45_000;

/** Returns turns for clips: one of all callers, and one more of another. Each has up to 40 MB in memory, twice. */
export function limitJoins(deps: Omit<SpareTimeDeps, 'cores' | 'lateSeconds'>): InTurn {
  return createDecodeTurns({ ...deps, max: 1, report: ignore, maxWaitMs: maxJoinWaitMs });
}

export function createDecodeTurns({
  currentCaller = () => '',
  report,
  reserved = 1,
  maxWaitMs = defaultMaxWaitMs,
  ...deps
}: DecodeTurnsDeps): InTurn {
  const { elapsedMs } = deps;
  const turns = createFairTurns({ ...deps, reserved, maxWaitMs });
  return async (work, signal) => {
    signal.throwIfAborted();
    const startedMs = elapsedMs();
    const caller = currentCaller();
    const taken = turns.take(caller, signal);
    const turn = await taken.finally(() => report(elapsedMs() - startedMs, caller));
    if (turn === undefined) throw new MachineBusyError();
    try {
      return await work();
    } finally {
      turn.end();
    }
  };
}
