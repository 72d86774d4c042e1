import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileInput, quietArguments } from '../media/ffmpeg/capture-arguments.ts';

/** Coded key frame of H.264 in Annex B format, and its time from the first one, in seconds. */
export type CodedKeyFrame = { seconds: number; bytes: Buffer };

/** Leaves out all packets but those of key frames, without decoding. */
const keyPackets = 'h264_mp4toannexb,noise=drop=not(key)';

/**
 * Yields the key frames of a recording without decoding any. ffmpeg goes no faster than they are read. Yields nothing if the recording is not H.264.
 */
export async function* readKeyFrames(ffmpegPath: string, path: string): AsyncGenerator<CodedKeyFrame> {
  const child = spawn(ffmpegPath, keyFrameArguments(path), {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const closed = once(child, 'close');
  const [, list, , packets] = child.stdio;
  try {
    if (!(packets instanceof Readable) || list === null) return;
    const takeBytes = createByteReader(packets);
    let unitSeconds = 0;
    let first: number | undefined;
    for await (const line of createInterface({ input: list })) {
      const timeBase = /^#tb 0: (\d+)\/(\d+)/.exec(line);
      if (timeBase) unitSeconds = Number(timeBase[1]) / Number(timeBase[2]);
      if (line.startsWith('#')) continue;
      const [, , time, , length] = line.split(',').map(Number);
      if (time === undefined || length === undefined || !Number.isSafeInteger(length)) return;
      const bytes = await takeBytes(length);
      if (bytes === undefined) return;
      first ??= time;
      yield { seconds: Math.round((time - first) * unitSeconds * 1000) / 1000, bytes };
    }
  } finally {
    child.kill('SIGKILL');
    // A paused pipe would keep the process from closing.
    for (const pipe of child.stdio) pipe?.destroy();
    await closed.catch(() => undefined);
  }
}

/** Returns a function that reads exactly that many bytes, or undefined if the stream ends before. */
function createByteReader(stream: Readable): (length: number) => Promise<Buffer | undefined> {
  let wake: (() => void) | undefined;
  // A listener per wait would be called immediately while a part is in the buffer, and no more would arrive.
  for (const event of ['readable', 'end', 'close', 'error']) stream.on(event, () => wake?.());
  return async (length) => {
    for (;;) {
      const bytes: unknown = stream.read(length);
      if (Buffer.isBuffer(bytes)) return bytes.length === length ? bytes : undefined;
      if (stream.readableEnded || stream.destroyed) return undefined;
      const woken = Promise.withResolvers<void>();
      wake = woken.resolve;
      await woken.promise;
    }
  };
}

/** One list of times and lengths, and the packets behind each other. A list that waits in a buffer would block both. */
function keyFrameArguments(path: string): string[] {
  const packets = ['-map', '0:v:0', '-c', 'copy', '-bsf:v', keyPackets, '-flush_packets', '1'];
  return [
    ...quietArguments,
    ...fileInput(path),
    ...packets,
    ...'-f framecrc pipe:1'.split(' '),
    ...packets,
    ...'-f data pipe:3'.split(' '),
  ];
}
