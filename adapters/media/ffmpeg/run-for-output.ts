import { TransientError } from '../../../core/errors.ts';
import type { InTurn } from './in-turn.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

/** Runs ffmpeg in a turn. Returns null if it gives no output, or if no turn was free in time. */
export async function runForOutput(
  run: Parameters<typeof spawnFfmpeg>[0],
  inTurn: InTurn,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    const outcome = await inTurn(() => spawnFfmpeg(run, signal), signal);
    return outcome.ended === 'exited' && outcome.exitCode === 0 && outcome.stdout.length > 0
      ? outcome.stdout
      : null;
  } catch (error) {
    if (signal.aborted || error instanceof TransientError) return null;
    throw error;
  }
}
