import { readJpegHeader } from '../../core/stream/jpeg.ts';
import { startDecoder, type DecoderProcess } from '../media/ffmpeg/decoder-process.ts';
import type { FfmpegOutput } from '../media/ffmpeg/run-ffmpeg.ts';
import { readCodedPicture } from '../media/h264/coded-picture.ts';
import { frameSeconds, readFrames } from './read-frames.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileInput, quietArguments } from '../media/ffmpeg/capture-arguments.ts';

/** Coded key frame of H.264 in Annex B format, and its time from the first one, in seconds. */
type CodedKeyFrame = { seconds: number; bytes: Buffer };

/** Leaves out all packets but those of key frames, without decoding. */
const keyPackets = 'h264_mp4toannexb,noise=drop=not(key)';

/**
 * Yields the key frames of a recording without decoding any. ffmpeg goes no faster than they are read. Yields nothing
 * if the recording is not H.264.
 */
async function* readKeyFrames(ffmpegPath: string, path: string): AsyncGenerator<CodedKeyFrame> {
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

/**
 * Frame of a recording, and its time from the beginning of the file, in seconds. `read` returns null if it cannot be
 * decoded.
 */
export type PlayedFrame = { seconds: number; read: () => Promise<FfmpegOutput | null> };

/** Decoded frames of one process, after which another one takes its place. */
const maxDecodes = 500;
const maxDecodeMs = 10_000;

/**
 * Yields the frames of a recording in order, each decoded before it is yielded. Throws `RecordingError` if nothing can
 * be decoded.
 */
export async function* decodeAllFrames(
  ffmpegPath: string,
  path: string,
  options: { keyFramesOnly: boolean },
): AsyncGenerator<PlayedFrame> {
  for await (const { seconds, ...picture } of readFrames(ffmpegPath, path, options))
    yield { seconds, read: async () => picture };
}

/**
 * Yields the key frames of a recording in order, each decoded when it is read: an hour with a check every 10 s decodes
 * every fifth key frame. Yields nothing if the recording is not H.264, or if its first frame differs from the one that
 * ffmpeg decodes from the file, as with a rotated picture.
 */
export async function* decodeReadFrames(ffmpegPath: string, path: string): AsyncGenerator<PlayedFrame> {
  const expected = await firstFrame(ffmpegPath, path);
  const size = expected && readJpegHeader(expected.frame);
  if (!expected || !size) return;
  let decoder: DecoderProcess | undefined;
  let decodes = 0;
  let parameters: string | undefined;
  let newestSeconds = -Infinity;
  const decode = async (bytes: Buffer) => {
    const units = readCodedPicture(bytes);
    parameters ??= units?.parameters;
    if (units === null || units.parameters !== parameters) return null;
    if (decodes % maxDecodes === 0) {
      decoder?.close();
      decoder = startDecoder(ffmpegPath, size);
    }
    decodes += 1;
    const [picture] = (await decoder?.decode([units.bytes], maxDecodeMs)) ?? [];
    return picture ?? null;
  };
  try {
    for await (const { seconds, bytes } of readKeyFrames(ffmpegPath, path)) {
      if (seconds - newestSeconds < frameSeconds) continue;
      if (newestSeconds === -Infinity && !isSame(await decode(bytes), expected)) return;
      newestSeconds = seconds;
      yield { seconds, read: async () => decode(bytes) };
    }
  } finally {
    decoder?.close();
  }
}

async function firstFrame(ffmpegPath: string, path: string): Promise<FfmpegOutput | undefined> {
  for await (const frame of readFrames(ffmpegPath, path, { keyFramesOnly: true, maxFrames: 1 })) return frame;
  return undefined;
}

function isSame(one: FfmpegOutput | null, other: FfmpegOutput): boolean {
  return (
    one !== null &&
    Buffer.compare(one.frame, other.frame) === 0 &&
    Buffer.compare(one.thumbnail, other.thumbnail) === 0
  );
}
