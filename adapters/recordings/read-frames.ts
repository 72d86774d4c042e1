import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import {
  decodingLimits,
  fileInput,
  pictureBranches,
  quietArguments,
} from '../media/ffmpeg/capture-arguments.ts';

import { RecordingError } from './recording-error.ts';
import { splitFrames, type RecordedFrame } from './split-frames.ts';

/** Minimum time between two frames that are no key frames, in seconds. No check needs more. */
export const frameSeconds = 0.45;

/**
 * Yields the frames of a recording in order, decoded in one run of ffmpeg that goes no faster than they are read. With
 * `keyFramesOnly` the frames between key frames are not decoded, otherwise each key frame is yielded. Throws `RecordingError` if nothing can be decoded.
 */
export async function* readFrames(
  ffmpegPath: string,
  path: string,
  { keyFramesOnly, maxFrames }: { keyFramesOnly: boolean; maxFrames?: number },
): AsyncGenerator<RecordedFrame> {
  const child = spawn(ffmpegPath, frameArguments(path, keyFramesOnly, maxFrames), {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const complaint = collectText(child.stderr);
  const outputs = { thumbnails: child.stdout, pictures: child.stdio[3], times: child.stdio[4] };
  let count = 0;
  try {
    for await (const frame of splitFrames(outputs)) {
      count += 1;
      yield frame;
    }
    await closed;
    if (count === 0) throw new RecordingError(`No frame of ${path} can be decoded. ${complaint()}`.trim());
  } finally {
    child.kill('SIGKILL');
    // A paused pipe would keep the process from closing.
    for (const pipe of child.stdio) pipe?.destroy();
    await closed.catch(() => undefined);
  }
}

/** Returns the first line that ffmpeg writes to stderr. */
function collectText(pipe: Readable | null): () => string {
  let text = '';
  pipe?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, 1000)));
  return () => text.split('\n', 1)[0] ?? '';
}

function frameArguments(path: string, keyFramesOnly: boolean, maxFrames: number | undefined): string[] {
  const skipped = keyFramesOnly ? ['-skip_frame', 'nokey'] : [];
  const rate = `select=isnan(prev_selected_t)+gte(t-prev_selected_t\\,${frameSeconds})${keyFramesOnly ? '' : '+key'}`;
  const split = 'split=2[timed][pictures];[timed]scale=2:2[time]';
  return [
    ...quietArguments,
    ...skipped,
    ...decodingLimits,
    ...fileInput(path),
    '-filter_complex',
    `[0:v:0]setpts=PTS-STARTPTS,${rate},${split};[pictures]${pictureBranches}`,
    ...output('frame', 'mjpeg -q:v 3', 'image2pipe', 3, maxFrames),
    ...output('thumbnail', 'rawvideo', 'rawvideo', 1, maxFrames),
    ...output('time', 'rawvideo', 'mkvtimestamp_v2', 4, maxFrames),
  ];
}

function output(
  name: string,
  codec: string,
  format: string,
  pipe: number,
  maxFrames: number | undefined,
): string[] {
  const count = maxFrames === undefined ? '' : ` -frames:v ${maxFrames}`;
  return `-map [${name}] -fps_mode passthrough${count} -c:v ${codec} -f ${format} pipe:${pipe}`.split(' ');
}
