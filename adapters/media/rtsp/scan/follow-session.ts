import { LRUCache } from 'lru-cache';
import { registerCache, retainedBytes } from '../../../byte-cache.ts';
import type { FfmpegRunner, KeyFramePicture, PipeInput } from '../../ffmpeg/run-ffmpeg.ts';
import { lastFramePts } from '../../mpeg-ts/trim-transport-stream.ts';
import { minDistanceSeconds } from '../../scan/measure-scan.ts';
import type { AccessUnit } from '../rtp/access-unit-assembler.ts';
import type { SessionTrack } from '../session/open-sessions.ts';
import { writeTransportStream, type TimedUnit } from '../../mpeg-ts/write-transport-stream.ts';

type Decoding = { ffmpeg: FfmpegRunner; caller: string | undefined };

const timeoutMs = 5_000;

/** Thumbnails that are kept, of 22 kB each. */
const [maxThumbnails, maxThumbnailBytes] = [1_500, 40 * 1024 * 1024];

type DecodedUnit = { caller: string | undefined; picture?: KeyFramePicture };

/**
 * Thumbnails of key frames that were decoded on their arrival: a scan decodes none again that its caller has decoded.
 */
const decoded = new WeakMap<AccessUnit, DecodedUnit>();
const kept = new LRUCache<DecodedUnit, true>({
  max: maxThumbnails,
  maxSize: maxThumbnailBytes,
  sizeCalculation: (_, unit) => retainedBytes(unit),
  dispose: (_, unit) => delete unit.picture,
});
registerCache('thumbnails of key frames', maxThumbnailBytes, kept, ({ calculatedSize }) => calculatedSize);

/** Returns the picture of a key frame that was decoded on its arrival, in a process of this caller. */
export function findDecoded(unit: AccessUnit, caller: string | undefined): KeyFramePicture | undefined {
  const entry = decoded.get(unit);
  return entry?.caller === caller ? entry?.picture : undefined;
}

/**
 * Returns a function that decodes the key frames of a session on their arrival, one at a time, and calls `onFrame` with
 * their thumbnails. One that arrives during a decode replaces one that waits. What cannot be decoded is left out.
 */
export function decodeOnArrival(
  { ffmpeg, caller }: Decoding,
  onFrame: (thumbnail: Uint8Array) => void,
  signal: AbortSignal,
): (unit: AccessUnit, track: SessionTrack) => void {
  let waiting: (() => Promise<void>) | undefined;
  let isDecoding = false;
  let lastMs = -Infinity;
  return (unit, { codec }) => {
    if (Math.abs(unit.arrivedMs - lastMs) < minDistanceSeconds * 1000) return;
    lastMs = unit.arrivedMs;
    waiting = () => decode(unit, codec);
    if (!isDecoding) void decodeWaiting();
  };

  async function decodeWaiting(): Promise<void> {
    isDecoding = true;
    for (let next = waiting; next && !signal.aborted; next = waiting) {
      waiting = undefined;
      await next().catch(() => undefined);
    }
    isDecoding = false;
  }

  async function decode(unit: AccessUnit, codec: SessionTrack['codec']): Promise<void> {
    const input = keyFrameInput(codec, [{ bytes: unit.bytes, isKeyFrame: true, pts: lastFramePts }]);
    const [picture] = await ffmpeg.runAll(input, { caller }, { timeoutMs }, signal);
    if (!picture || signal.aborted) return;
    const entry = { caller, picture: { ...picture, frame: null } };
    decoded.set(unit, entry);
    kept.set(entry, true);
    onFrame(picture.thumbnail);
  }
}

/**
 * Returns key frames as input of a decoder, each a stream of its own. MPEG-TS is written only if no shared decoder
 * reads them.
 */
export function keyFrameInput(codec: SessionTrack['codec'], units: readonly TimedUnit[]): PipeInput {
  return {
    kind: 'pipe',
    format: 'mpegts',
    chunks: writeEach(),
    ...(codec === 'H264' && { keyFrames: units.map(({ bytes }) => bytes) }),
  };

  async function* writeEach(): AsyncGenerator<Uint8Array> {
    for (const unit of units) yield writeTransportStream(codec, [unit]);
  }
}
