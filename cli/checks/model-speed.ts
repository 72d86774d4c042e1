import { spawnFfmpeg } from '../../adapters/media/ffmpeg/spawn-ffmpeg.ts';
import { judgeCondition } from '../../core/judge-condition.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import { testCondition } from '../../core/observability/test-picture.ts';

/** Interval of the streams in the sentence, in seconds. */
const intervalSeconds = 60;

/**
 * Returns how long a check takes on this machine, and how many streams that serves: "a check takes 6 s here: 10 streams
 * at 60 s".
 */
export function describeSpeed(seconds: number, callsAtOnce: number): string {
  const shown = seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds);
  const streams = Math.floor((intervalSeconds * callsAtOnce) / seconds);
  return streams === 0
    ? `a check takes ${shown} s here: not even one stream at ${intervalSeconds} s`
    : `a check takes ${shown} s here: ${streams} ${streams === 1 ? 'stream' : 'streams'} at ${intervalSeconds} s`;
}

/** Measures one check of a picture as captures are, with a model that is loaded. */
export async function measureCheck(
  vision: Pick<VisionModel, 'judge'>,
  ffmpegPath: string,
  { steadyNow, timeoutSeconds }: { steadyNow: () => Date; timeoutSeconds: number },
): Promise<number> {
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  const frame = await drawPicture(ffmpegPath, signal);
  const startedAt = steadyNow();
  await judgeCondition(vision, { mode: 'frames', frame }, { condition: testCondition }, signal);
  return (steadyNow().getTime() - startedAt.getTime()) / 1000;
}

async function drawPicture(ffmpegPath: string, signal: AbortSignal): Promise<Uint8Array> {
  const args = '-v error -f lavfi -i testsrc2=size=896x504 -frames:v 1 -c:v mjpeg -f image2pipe pipe:1';
  const outcome = await spawnFfmpeg(
    { ffmpegPath, args: args.split(' '), outputBytes: 4e6, timeoutMs: 10_000 },
    signal,
  );
  if (outcome.ended === 'exited' && outcome.exitCode === 0) return outcome.stdout;
  throw new Error('ffmpeg draws no picture');
}
