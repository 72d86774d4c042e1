import { open, readFile } from 'node:fs/promises';
import type { Example } from '../../core/evaluation/labelled-set.ts';
import type { CheckMedia } from '../../core/ports/vision-model.ts';
import type { InputMode } from '../../core/records/capture.ts';
import type { FfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { CommandError } from '../command-error.ts';
import { resolveInSet } from './set-writer.ts';

const timeoutMs = 30_000;
/** As long as the shortest text by which ffmpeg knows a file that names others, `#EXTM3U`. */
const headBytes = 7;
/** Span of a video, in seconds; its end is the frame. */
const frameSpanSeconds = 1;

/**
 * Reads the media of an example as a capture has them. A video gives the clip at the end of its span, and the last
 * frame of it. An image has no clip, and no frame of the check before, which a video gives from the start of its span:
 * in modes clip and hybrid the model gets the frame. Throws `CommandError` if it cannot be read.
 */
export async function readExampleMedia(
  example: Example,
  folder: string,
  { mode, clipSeconds, withPrevious }: { mode: InputMode; clipSeconds: number; withPrevious?: boolean },
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<CheckMedia> {
  if ('picture' in example)
    return { mode: 'frames', frame: await readPicture(await resolveInSet(folder, example.picture)) };
  const { from_seconds: from, to_seconds: to } = example;
  const seconds = Math.min(to - from, mode === 'frames' ? frameSpanSeconds : clipSeconds);
  const path = await resolveInSet(folder, example.video);
  await requireContainer(path);
  const input = { kind: 'file' as const, path, fromSeconds: to - seconds, seconds };
  try {
    const { frame, clip } = await ffmpeg.run(
      input,
      { mode: 'hybrid', clipSeconds: seconds },
      { timeoutMs },
      signal,
    );
    if (mode !== 'frames' && clip !== undefined) return { mode, frame, clip };
    if (!withPrevious || to - from <= frameSpanSeconds) return { mode: 'frames', frame };
    const start = { ...input, fromSeconds: from, seconds: Math.min(frameSpanSeconds, to - from) };
    const first = await ffmpeg.run(start, { mode: 'frames', clipSeconds: 1 }, { timeoutMs }, signal);
    return { mode: 'frames', frame, previous: first.frame };
  } catch (cause) {
    throw new CommandError(
      `${path} cannot be read from ${from} to ${to} s.`,
      'Check that the file exists, that ffmpeg can play it, and that the span lies in it.',
      { cause },
    );
  }
}

/**
 * A playlist is a text that names other files, which ffmpeg would read. Each video container begins with bytes that no
 * text has. Only its head counts: a later zero byte does not keep ffmpeg from the playlist before it.
 */
async function requireContainer(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const head = buffer.subarray(0, bytesRead);
  const isContainer = head.some((byte) => byte < 9 || (byte > 13 && byte < 32));
  // The size that follows may have none.
  if (!isContainer && head.toString('latin1', 0, 4) !== 'RIFF')
    throw new CommandError(`${path} is not a video file.`, 'A set names video files, no playlists.');
}

async function readPicture(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CommandError(`${path} cannot be read.`, 'Paths are relative to the file of the set.', {
      cause,
    });
  });
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8)
    throw new CommandError(`${path} is not a JPEG.`, 'Convert it, for example with ffmpeg -i FILE FILE.jpg.');
  return bytes;
}
