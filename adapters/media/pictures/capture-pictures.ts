import { setTimeout as sleep } from 'node:timers/promises';
import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { waitAtMost } from '../../../core/time-limit.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { clipFramesPerSecond } from '../ffmpeg/capture-arguments.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import type { FfmpegOutput, FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import type { RecordedFilm } from '../clips/record-on.ts';
import { leaveOut } from '../scan/measure-scan.ts';
import type { WebStream } from '../web/open-stream.ts';
import type { PictureLimits } from './picture-limits.ts';
import {
  hasMotion,
  readClip,
  damagedPicture,
  IncompletePictureError,
  readPictures,
  type Picture,
} from './read-pictures.ts';
import { isWholeJpeg } from './whole-jpeg.ts';
import { createHash } from 'node:crypto';
import { parseHttpDate } from '../../../core/outside-time.ts';

const markers = {
  scan: 0xda,
  jfif: 0xe0,
  exif: 0xe1,
  adobe: 0xee,
  lastApplication: 0xef,
  comment: 0xfe,
} as const;

/**
 * Returns a JPEG without the metadata in front of its first scan: location and serial number do not belong into a
 * decoder, and errors in them say nothing about the picture. Keeps what determines its shape, colors and orientation.
 */
function withoutMetadata(jpeg: Uint8Array): Uint8Array {
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength);
  const parts: Buffer[] = [];
  let keptFrom = 0;
  for (let offset = 2; offset + 4 <= bytes.length;) {
    const marker = bytes[offset + 1] ?? 0;
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    if (marker === markers.scan) return Buffer.concat([...parts, bytes.subarray(keptFrom)]);
    const end = offset + 2 + bytes.readUInt16BE(offset + 2);
    const isMetadata =
      marker === markers.comment || (marker > markers.jfif && marker <= markers.lastApplication);
    if (isMetadata && marker !== markers.adobe) {
      parts.push(bytes.subarray(keptFrom, offset));
      if (marker === markers.exif) parts.push(onlyOrientation(bytes.subarray(offset + 4, end)));
      keptFrom = end;
    }
    offset = end;
  }
  return jpeg;
}

const exifName = 'Exif\0\0';
/** Big-endian TIFF with one entry, whose value is not written yet. */
const orientationEntry = Buffer.from('4d4d002a000000080001011200030000000100000000', 'hex');
const [orientationTag, entryBytes] = [0x0112, 12];

/** Returns the segment of EXIF with the orientation alone; empty for an upright picture. */
function onlyOrientation(exif: Buffer): Buffer {
  const orientation = readOrientation(exif);
  if (orientation < 2 || orientation > 8) return Buffer.alloc(0);
  const entry = Buffer.concat([Buffer.from(exifName), orientationEntry, Buffer.alloc(4)]);
  entry.writeUInt16BE(orientation, exifName.length + 18);
  return Buffer.concat([Buffer.from([0xff, markers.exif, 0, entry.length + 2]), entry]);
}

/** Returns 0 without an orientation. */
function readOrientation(exif: Buffer): number {
  const tiff = exif.subarray(exifName.length);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  if (exif.toString('latin1', 0, exifName.length) !== exifName || tiff.length < 8) return 0;
  const readShort = (offset: number) => (isLittle ? tiff.readUInt16LE(offset) : tiff.readUInt16BE(offset));
  const entries = 2 + (isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4));
  const end =
    entries > tiff.length ? 0 : Math.min(tiff.length, entries + entryBytes * readShort(entries - 2));
  // Behind them are other values, and the orientation of the thumbnail.
  for (let offset = entries; offset + entryBytes <= end; offset += entryBytes)
    if (readShort(offset) === orientationTag) return readShort(offset + 8);
  return 0;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Maximum plausible age of a picture that is captured, in milliseconds. Some servers state the time of their start
 * instead.
 */
const plausibleMs = 60 * 60_000;
/** Assumed time between new pictures, in seconds: many cameras of places and weather have one per minute. */
const usualSeconds = 60;
const maxSeconds = 3600;
const staleAfterPictures = 3;

/**
 * Returns the time of a picture by `Last-Modified`, compared with the clock of its server; `now` without one or if it
 * is implausible.
 */
function pictureTime(headers: Headers, now: Date): Date {
  const ageMs = readAgeMs(headers, now);
  return ageMs >= 0 && ageMs <= plausibleMs ? new Date(now.getTime() - ageMs) : now;
}

/**
 * Returns the age of a picture in hours if its server states more than one hour, and more than three times its
 * `max-age`; else undefined.
 */
function staleHours(headers: Headers, now: Date): number | undefined {
  const ageMs = readAgeMs(headers, now);
  const isStale = ageMs > Math.max(plausibleMs, staleAfterPictures * readMaxAge(headers) * 1000);
  return isStale ? Math.round(ageMs / 3_600_000) : undefined;
}

function readAgeMs(headers: Headers, now: Date): number {
  const changedMs = parseHttpDate(headers['last-modified'] ?? '');
  return changedMs === undefined ? 0 : (parseHttpDate(headers['date'] ?? '') ?? now.getTime()) - changedMs;
}

/**
 * Returns the position of a single picture: the same bytes are the same picture. A `max-age` above the usual time is
 * the time between new ones.
 */
function picturePosition(
  jpeg: Uint8Array,
  headers: Headers,
): Pick<Capture, 'position' | 'isIntervalAssumed'> {
  const seconds = Math.min(readMaxAge(headers), maxSeconds);
  const segment = createHash('sha256').update(jpeg).digest('hex').slice(0, 16);
  return seconds > usualSeconds
    ? { position: { segment, segment_seconds: seconds } }
    : { position: { segment, segment_seconds: usualSeconds }, isIntervalAssumed: true };
}

function readMaxAge(headers: Headers): number {
  const [, age = '0'] = /max-age=(\d{1,9})/.exec(headers['cache-control'] ?? '') ?? [];
  return Number(age);
}

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

/** Pictures that are tried until one is whole, and the wait for one more, in milliseconds. */
const [maxTried, nextMs] = [6, 2_000];

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

/**
 * Captures the newest picture of Motion JPEG, or a clip of its pictures. Every capture is new: the connection is at the
 * live edge.
 */
export async function captureMotionJpeg(
  stream: WebStream,
  request: CaptureRequest,
  deps: PictureDeps,
  signal: AbortSignal,
): Promise<Capture> {
  const pictures = picturesOf(stream, deps);
  const decodeNow = async (jpegs: Uint8Array[]): Promise<Capture> => {
    const [capturedAt, position] = [deps.now(), { segment: null, segment_seconds: 0 }];
    return withScan({ ...(await decode(jpegs, request, deps, signal)), capturedAt, position }, request);
  };
  try {
    if (request.mode === 'frames') return await decodeNewest(pictures, decodeNow, deps);
    return await decodeNow(await readClip(pictures, request.clipSeconds, deps.limits, isWholeJpeg));
  } finally {
    stream.close();
  }
}

/**
 * Records the whole pictures of some seconds of Motion JPEG, at their rate, or as many as fit. Throws
 * `StreamFetchError` for fewer than two.
 */
export async function recordMotionJpeg(
  stream: WebStream,
  seconds: number,
  deps: PictureDeps,
): Promise<RecordedFilm> {
  const jpegs: Uint8Array[] = [];
  let [firstMs, lastMs, bytes] = [0, 0, 0];
  try {
    for await (const { jpeg, atMs } of picturesOf(stream, deps)) {
      if (!(await isWholeJpeg(jpeg))) continue;
      if (jpegs.length === 0) firstMs = atMs;
      [lastMs, bytes] = [atMs, bytes + jpeg.length];
      if (bytes > deps.limits.clipBytes) break;
      jpegs.push(withoutMetadata(jpeg));
      if (lastMs - firstMs >= seconds * 1000) break;
    }
  } finally {
    stream.close();
  }
  const shownSeconds = (lastMs - firstMs) / 1000;
  if (jpegs.length < 2 || shownSeconds === 0)
    throw new StreamFetchError('Check that the camera sends pictures.', 'Too few whole pictures for a clip');
  const framesPerSecond = (jpegs.length - 1) / shownSeconds;
  return { format: 'mjpeg', framesPerSecond, toChunks: () => jpegs, seconds: shownSeconds };
}

/** Decodes the newest picture. If it is damaged, the next ones are tried, or those before if the stream ends. */
async function decodeNewest(
  pictures: AsyncIterator<Picture>,
  decodeNow: (jpegs: Uint8Array[]) => Promise<Capture>,
  { elapsedMs }: PictureDeps,
): Promise<Capture> {
  const first = await firstPicture(pictures);
  const next = createNextPicture(pictures);
  const recent = await newestPictures(first, next, elapsedMs);
  for (let tried = 1; ; tried += 1) {
    try {
      const newest = recent.splice(-1).map(({ jpeg }) => jpeg);
      for (const jpeg of newest) if (!(await isWholeJpeg(jpeg))) throw damagedPicture();
      return await decodeNow(newest);
    } catch (error) {
      if (!(error instanceof StreamFetchError && error.isDamaged) || tried === maxTried) throw error;
      recent.push(...(await next(nextMs)));
      if (recent.length === 0) throw error;
    }
  }
}

/**
 * Returns a function that waits for the next picture: none at the end of the stream, and after the time. A late one is
 * that of the next call.
 */
function createNextPicture(pictures: AsyncIterator<Picture>) {
  let pending: Promise<IteratorResult<Picture> | undefined> | undefined;
  return async (waitMs: number): Promise<Picture[]> => {
    pending ??= pictures.next().catch(() => undefined);
    const arrived = await waitAtMost<IteratorResult<Picture> | 'late' | undefined>(
      waitMs,
      pending,
      () => 'late',
    );
    if (arrived === 'late') return [];
    pending = undefined;
    return arrived === undefined || arrived.done === true ? [] : [arrived.value];
  };
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
    if (!(await isWholeJpeg(jpeg))) throw damagedPicture();
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

/** Returns the newest pictures of a stream, oldest first: servers may send a queue of older ones first. */
async function newestPictures(
  first: Picture,
  next: ReturnType<typeof createNextPicture>,
  elapsedMs: () => number,
): Promise<Picture[]> {
  let newest = [first];
  for (const startMs = elapsedMs(); elapsedMs() - startMs < maxNewestMs;) {
    const arrived = await next(quietMs);
    if (arrived.length === 0) break;
    newest = [...newest, ...arrived].slice(-maxTried);
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
    throw damagedPicture(error.message, { cause: error });
  }
}

/** A look back finds nothing, because no earlier picture can be had. */
function withScan(capture: Capture, { lookBack }: CaptureRequest): Capture {
  if (!lookBack) return capture;
  const { scan, position } = leaveOut(lookBack.since, capture.capturedAt);
  return { ...capture, scan, position: { ...capture.position, scan: position } };
}
