import { readJpegHeader } from '../../core/stream/jpeg.ts';
import { startDecoder, type DecoderProcess } from '../media/ffmpeg/decoder-process.ts';
import type { FfmpegOutput } from '../media/ffmpeg/run-ffmpeg.ts';
import { readCodedPicture } from '../media/h264/coded-picture.ts';
import { frameSeconds, readFrames } from './read-frames.ts';
import { readKeyFrames } from './read-key-frames.ts';

/** Frame of a recording, and its time from the beginning of the file, in seconds. `read` returns null if it cannot be decoded. */
export type PlayedFrame = { seconds: number; read: () => Promise<FfmpegOutput | null> };

/** Decoded frames of one process, after which another one takes its place. */
const maxDecodes = 500;
const maxDecodeMs = 10_000;

/** Yields the frames of a recording in order, each decoded before it is yielded. Throws `RecordingError` if nothing can be decoded. */
export async function* decodeAllFrames(
  ffmpegPath: string,
  path: string,
  options: { keyFramesOnly: boolean },
): AsyncGenerator<PlayedFrame> {
  for await (const { seconds, ...picture } of readFrames(ffmpegPath, path, options))
    yield { seconds, read: async () => picture };
}

/**
 * Yields the key frames of a recording in order, each decoded when it is read: an hour with a check every 10 s decodes every fifth key frame. Yields
 * nothing if the recording is not H.264, or if its first frame differs from the one that ffmpeg decodes from the file, as with a rotated picture.
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
