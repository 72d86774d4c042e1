import type { CutFrame } from '../../../core/ports/cut-frame.ts';
import { decodingLimits, quietArguments } from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { runForOutput } from '../ffmpeg/run-for-output.ts';

const timeoutMs = 5000;
const maxBytes = 16 * 1024 * 1024;
const input = '-codec_whitelist h264 -protocol_whitelist pipe -f mov -i pipe:0';
const output =
  '-map 0:v:0 -frames:v 1 -fps_mode passthrough -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f image2pipe pipe:1';

/**
 * Creates a function that cuts a frame out of a clip with ffmpeg. `framesPerSecond` is the rate at which the model samples clips: the frame is the very
 * one that it has judged.
 */
export function createCutFrame(options: {
  ffmpegPath: string;
  framesPerSecond: number;
  inTurn?: InTurn;
}): CutFrame {
  const { ffmpegPath, framesPerSecond, inTurn = withoutTurns } = options;
  return async (clip, atSeconds, signal) => {
    const filter = `fps=${framesPerSecond},select=eq(n\\,${Math.round(atSeconds * framesPerSecond)})`;
    const own = [...input.split(' '), '-vf', filter, ...output.split(' ')];
    const args = [...quietArguments, ...decodingLimits, ...own];
    const cutting = { ffmpegPath, args, input: [clip], outputBytes: maxBytes, timeoutMs };
    return runForOutput(cutting, inTurn, signal);
  };
}
