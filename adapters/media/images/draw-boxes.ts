import type { DrawBoxes } from '../../../core/ports/draw-boxes.ts';
import { quietArguments } from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { runForOutput } from '../ffmpeg/run-for-output.ts';

const timeoutMs = 5000;
const maxBytes = 16 * 1024 * 1024;
const input = '-codec_whitelist mjpeg -protocol_whitelist pipe -f image2pipe -c:v mjpeg -i pipe:0';
const output = '-frames:v 1 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p -f image2pipe pipe:1';

/**
 * Creates a function that draws boxes with ffmpeg: a green line on a black one, visible on any background. An ffmpeg without
 * `drawbox`, or one without a free turn, returns the JPEG itself.
 */
export function createDrawBoxes(options: { ffmpegPath: string; inTurn?: InTurn }): DrawBoxes {
  const { ffmpegPath, inTurn = withoutTurns } = options;
  return async (jpeg, boxes, signal) => {
    const filters = boxes.flatMap(({ x, y, width, height }) => {
      const place = `x=iw*${x}:y=ih*${y}:w=iw*${width}:h=ih*${height}`;
      return [`drawbox=${place}:color=black:t=5`, `drawbox=${place}:color=lime:t=3`];
    });
    const args = [...quietArguments, ...input.split(' '), '-vf', filters.join(','), ...output.split(' ')];
    const drawing = { ffmpegPath, args, input: [jpeg], outputBytes: maxBytes, timeoutMs };
    return (await runForOutput(drawing, inTurn, signal)) ?? jpeg;
  };
}
