import { setTimeout as sleep } from 'node:timers/promises';
import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { waitAtMost } from '../../../core/time-limit.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { clipFramesPerSecond } from '../ffmpeg/capture-arguments.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import type { FfmpegOutput, FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { leaveOut } from '../scan/measure-scan.ts';
import type { WebStream } from '../web/open-stream.ts';
import type { PictureLimits } from './picture-limits.ts';
import { picturePosition, pictureTime, staleHours } from './picture-time.ts';
import { hasMotion, readClip } from './read-clip.ts';
import { IncompletePictureError, readPictures, type Picture } from './read-pictures.ts';
import { withoutMetadata } from './strip-metadata.ts';

export type PictureDeps = {
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  limits: PictureLimits;
};

/** Opens the same address again, in its own time. */
type Reopen = () => Promise<WebStream>;

/** Time without a further picture after which the last one is the newest, and the maximum for it, in milliseconds. */
const [quietMs, maxNewestMs] = [30, 250];

/** Time after which an incomplete or an outdated picture is requested again, in milliseconds. */
const againMs = 500;

/** Captures the picture of an address that answers with one. Throws `StreamFetchError` for a clip. */
export async function captureSnapshot(
  { stream, reopen }: { stream: WebStream; reopen: Reopen },
  request: CaptureRequest,
  deps: PictureDeps,
  signal: AbortSignal,
): Promise<Capture> {
  if (request.mode !== 'frames')
    throw new StreamFetchError(
      'The address gives single pictures, of which there are no clips. Use input_mode "frames".',
      'Failed to capture video clip from stream',
    );
  const { jpeg, headers } = await readSnapshot(stream, reopen, deps, signal);
  const capturedAt = pictureTime(headers, deps.now());
  const output = await decode([jpeg], request, deps, signal);
  return withScan({ ...output, capturedAt, ...picturePosition(jpeg, headers) }, request);
}

/** Captures the newest picture of Motion JPEG, or a clip of its pictures. Every capture is new: the connection is at the live edge. */
export async function captureMotionJpeg(
  stream: WebStream,
  request: CaptureRequest,
  deps: PictureDeps,
  signal: AbortSignal,
): Promise<Capture> {
  const pictures = picturesOf(stream, deps);
  const jpegs =
    request.mode === 'frames'
      ? [(await newestPicture(pictures, deps.elapsedMs)).jpeg]
      : await readClip(pictures, request.clipSeconds, deps.limits);
  stream.close();
  const capturedAt = deps.now();
  const output = await decode(jpegs, request, deps, signal);
  return withScan({ ...output, capturedAt, position: { segment: null, segment_seconds: 0 } }, request);
}

/** Checks that an address gives a current picture. Throws `NotLiveError` for one that is stale and does not change. */
export async function probeSnapshot(
  { stream, reopen }: { stream: WebStream; reopen: Reopen },
  deps: PictureDeps,
  signal: AbortSignal,
): Promise<void> {
  const first = await readSnapshot(stream, reopen, deps, signal);
  // Some cameras state a wrong time.
  const hours = staleHours(first.headers, deps.now());
  if (hours === undefined) return;
  const second = await readSnapshot(await reopenLater(reopen, signal), reopen, deps, signal);
  if (Buffer.compare(first.jpeg, second.jpeg) !== 0) return;
  throw new NotLiveError(
    `The picture is stale: its server says that it was last changed ${describeAge(hours)} ago (${first.headers['last-modified']}). Check that the camera makes new ones.`,
  );
}

/** Checks that Motion JPEG has pictures. Returns whether they suffice for clips. */
export async function probeMotionJpeg(stream: WebStream, deps: PictureDeps): Promise<boolean> {
  const pictures = picturesOf(stream, deps);
  await firstPicture(pictures);
  return hasMotion(pictures, waitAtMost);
}

function describeAge(hours: number): string {
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  return hours === 1 ? 'an hour' : `${hours} hours`;
}

async function readSnapshot(
  stream: WebStream,
  reopen: Reopen,
  deps: PictureDeps,
  signal: AbortSignal,
): Promise<{ jpeg: Uint8Array; headers: WebStream['headers'] }> {
  try {
    return await readOnce(stream, deps);
  } catch (error) {
    if (!(error instanceof IncompletePictureError)) throw error;
    return readOnce(await reopenLater(reopen, signal), deps);
  }
}

async function readOnce(stream: WebStream, deps: PictureDeps) {
  try {
    const { jpeg } = await firstPicture(picturesOf(stream, deps, 'first'));
    return { jpeg, headers: stream.headers };
  } finally {
    stream.close();
  }
}

async function reopenLater(reopen: Reopen, signal: AbortSignal): Promise<WebStream> {
  await sleep(againMs, undefined, { signal });
  return reopen();
}

/** Pictures of a stream; a timeout says that they are missing. */
async function* picturesOf(
  { chunks }: WebStream,
  { limits, elapsedMs }: PictureDeps,
  taken: 'first' | 'newest' = 'newest',
): AsyncGenerator<Picture> {
  try {
    yield* readPictures(chunks, limits, elapsedMs, taken);
  } catch (error) {
    if (!(error instanceof StreamFetchError && error.cause instanceof EgressTimeoutError)) throw error;
    throw new StreamFetchError(
      `No complete picture arrived within ${Math.round(limits.pictureMs / 1000)} s. Check that the camera is on, and that the address shows pictures in a browser.`,
      undefined,
      { cause: error },
    );
  }
}

async function firstPicture(pictures: AsyncIterator<Picture>): Promise<Picture> {
  const next = await pictures.next();
  if (next.done === true) throw new IncompletePictureError('The stream ended without a picture.');
  return next.value;
}

/** Returns the newest picture of a stream: servers may send a queue of older ones first. */
async function newestPicture(pictures: AsyncIterator<Picture>, elapsedMs: () => number): Promise<Picture> {
  let newest = await firstPicture(pictures);
  for (const startMs = elapsedMs(); elapsedMs() - startMs < maxNewestMs;) {
    const next = pictures.next().catch(() => undefined);
    const found = await waitAtMost<IteratorResult<Picture> | undefined>(quietMs, next, () => undefined);
    if (found === undefined || found.done === true) break;
    newest = found.value;
  }
  return newest;
}

async function decode(
  jpegs: Uint8Array[],
  { mode, clipSeconds, caller }: CaptureRequest,
  { ffmpeg, limits }: PictureDeps,
  signal: AbortSignal,
): Promise<FfmpegOutput> {
  const seconds = jpegs.length / clipFramesPerSecond;
  // A clip repeats a picture until the next one.
  const decoded = new Map([...new Set(jpegs)].map((jpeg) => [jpeg, withoutMetadata(jpeg)]));
  const chunks = jpegs.map((jpeg) => decoded.get(jpeg) ?? jpeg);
  const input = { kind: 'pipe', format: 'mjpeg', chunks, seconds } as const;
  try {
    return await ffmpeg.run(input, { mode, clipSeconds, caller }, { timeoutMs: limits.pictureMs }, signal);
  } catch (error) {
    if (!(error instanceof NoFrameDecodedError)) throw error;
    throw new StreamFetchError(
      'The picture is a damaged JPEG. Check that it is whole in a browser, then try again.',
      error.message,
      { cause: error, isDamaged: true },
    );
  }
}

/** A look back finds nothing, because no earlier picture can be had. */
function withScan(capture: Capture, { lookBack }: CaptureRequest): Capture {
  if (!lookBack) return capture;
  const { scan, position } = leaveOut(lookBack.since, capture.capturedAt);
  return { ...capture, scan, position: { ...capture.position, scan: position } };
}
