import type { DrawBoxes, CutFrame } from '../../../core/ports/stream-capturer.ts';
import {
  clipInput,
  decodingLimits,
  jpegInput,
  jpegOutput,
  quietArguments,
  words,
} from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { TransientError } from '../../../core/errors.ts';
import { spawnFfmpeg } from '../ffmpeg/spawn-ffmpeg.ts';

const timeoutMs = 5000;
const maxBytes = 16 * 1024 * 1024;

/**
 * Creates a function that draws boxes with ffmpeg: a green line on a black one, visible on any background. An ffmpeg
 * without
 * `drawbox`, or one without a free turn, returns the JPEG itself.
 */
export function createDrawBoxes(options: { ffmpegPath: string; inTurn?: InTurn }): DrawBoxes {
  const { ffmpegPath, inTurn = withoutTurns } = options;
  return async (jpeg, boxes, signal) => {
    const filters = boxes.flatMap(({ x, y, width, height }) => {
      const place = `x=iw*${x}:y=ih*${y}:w=iw*${width}:h=ih*${height}`;
      return [`drawbox=${place}:color=black:t=5`, `drawbox=${place}:color=lime:t=3`];
    });
    const args = [...quietArguments, ...jpegInput, '-vf', filters.join(','), ...jpegOutput];
    const drawing = { ffmpegPath, args, input: [jpeg], outputBytes: maxBytes, timeoutMs };
    return (await runForOutput(drawing, inTurn, signal)) ?? jpeg;
  };
}

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

/**
 * Creates a function that cuts a frame out of a clip with ffmpeg. `framesPerSecond` is the rate at which the model
 * samples clips: the frame is the very one that it has judged.
 */
export function createCutFrame(options: {
  ffmpegPath: string;
  framesPerSecond: number;
  inTurn?: InTurn;
}): CutFrame {
  const { ffmpegPath, framesPerSecond, inTurn = withoutTurns } = options;
  return async (clip, atSeconds, signal) => {
    const filter = `fps=${framesPerSecond},select=eq(n\\,${Math.round(atSeconds * framesPerSecond)})`;
    const output = [...words('-map 0:v:0 -fps_mode passthrough'), ...jpegOutput];
    const args = [...quietArguments, ...decodingLimits, ...clipInput, '-vf', filter, ...output];
    const cutting = { ffmpegPath, args, input: [clip], outputBytes: maxBytes, timeoutMs };
    return runForOutput(cutting, inTurn, signal);
  };
}
