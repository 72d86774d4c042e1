import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { ModelBusyError, VisionError } from '../../../core/vision-errors.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import type { CheckMedia } from '../../../core/ports/vision-model.ts';
import type { Region } from '../../../core/records/capture.ts';
import { isCutOff, isWatched } from '../../../core/records/region.ts';
import type { PictureDecoder } from '../pixel/image-decoder.ts';
import { decoded } from '../pixel/read-moments.ts';
import { DetectorBusyError, DetectorError, type ObjectDetector, type PictureSize } from './detector.ts';
import type { Moments, ObjectMoment } from './judge-objects.ts';

const clipFramesPerSecond = 2;
/** Decoded frames per detected one. At two frames per second, ffmpeg returns none of a clip below half a second. */
const picturesPerMoment = 2;
export const decodedFramesPerSecond = clipFramesPerSecond * picturesPerMoment;

/** Decoded frame of a capture, and its moments by index, the frame first. */
type Capture = {
  frame: Uint8Array;
  size: PictureSize;
  still: Uint8Array;
  moments: Map<number, ObjectMoment>;
};

/** `detector` is null if its packages are not installed. */
export type ObjectsVisionDeps = { decoder: PictureDecoder; detector: ObjectDetector | null };

/** Dependencies with the reader of the detector, null without one. */
export type BuiltInDeps = ObjectsVisionDeps & { reader: MomentReader | null };

/** Reads captures as moments: pictures with the objects that the network detects in them. */
export type MomentReader = ReturnType<typeof createMomentReader>;

/**
 * Creates a reader that remembers the frames of the newest captures, and the frames of their clips. Further conditions
 * and jobs on a capture cost neither another decoding nor another detection. The key is the clip, if there is one:
 * media stores drop it after its checks, and the pictures with it.
 */
export function createMomentReader({
  decoder,
  detector,
}: {
  decoder: PictureDecoder;
  detector: ObjectDetector;
}) {
  const captures = new WeakMap<Uint8Array, Capture>();
  const clips = new WeakMap<Uint8Array, SharedCall<Uint8Array[]>>();
  return {
    /** Returns the frame of a capture that was read, without running the network for it. */
    readBefore: (media: CheckMedia) => captures.get(captureKey(media))?.moments.get(0),

    /**
     * Returns the frame, and in modes clip and hybrid two frames per second of the clip. The evidence is the frame,
     * so it is always included. The network evaluates the frame while the clip is decoded.
     */
    async readMedia(media: CheckMedia, signal: AbortSignal): Promise<Moments> {
      const clip = media.mode === 'frames' ? undefined : media.clip;
      const decoding = clip && decodeClip(clip, inputSize(media.frame, detector)).join(signal);
      // It fails where it is awaited: a broken frame may end the check before.
      decoding?.catch(() => undefined);
      const { size, still, moments } = await decodeCapture(media, signal);
      const moving = async () => (decoding ? decoded(signal, async () => decoding) : []);
      return {
        count: async () => 1 + (await moving()).length,
        read: async (index) => {
          const detected = moments.get(index);
          const rgb = index === 0 ? still : (await moving())[index - 1];
          if (detected !== undefined || rgb === undefined) return detected ?? failMissingMoment();
          const atSeconds = index === 0 ? null : (index - 1) / clipFramesPerSecond;
          const moment = await toMoment({ rgb, size, atSeconds, regions: media.regions }, detector, signal);
          moments.set(index, moment);
          return moment;
        },
      };
    },
  };

  async function decodeCapture(media: CheckMedia, signal: AbortSignal): Promise<Capture> {
    const { frame } = media;
    const key = captureKey(media);
    const decodedBefore = captures.get(key);
    if (decodedBefore?.frame === frame) return decodedBefore;
    const size = inputSize(frame, detector);
    const still = await decoded(signal, () => decoder.decode(frame, size, signal));
    const capture = { frame, size, still, moments: new Map<number, ObjectMoment>() };
    captures.set(key, capture);
    return capture;
  }

  function decodeClip(clip: Uint8Array, size: PictureSize): SharedCall<Uint8Array[]> {
    const shared = clips.get(clip);
    if (shared !== undefined) return shared;
    const forget = () => void clips.delete(clip);
    const call = shareCall(async (signal) => {
      const pictures = await decoder.decodeClip(clip, size, decodedFramesPerSecond, signal);
      // Copies: pictures of one decoding may share a buffer, and a message to the detector copies the whole of it.
      return pictures.filter((_, number) => number % picturesPerMoment === 0).map((rgb) => rgb.slice());
    }, forget);
    call.result.catch(forget);
    clips.set(clip, call);
    return call;
  }
}

function captureKey({ mode, frame, clip }: CheckMedia): Uint8Array {
  return (mode === 'frames' ? undefined : clip) ?? frame;
}

/** Returns the size in which the network receives a frame. */
export function inputSize(frame: Uint8Array, detector: ObjectDetector): PictureSize {
  return detector.inputSize(readJpegHeader(frame) ?? { width: 16, height: 9 });
}

/** Detects objects in a picture. Throws `VisionError`, and `ModelBusyError` if too many pictures wait. */
export async function detect(
  picture: PictureSize & { rgb: Uint8Array },
  detector: ObjectDetector,
  signal: AbortSignal,
) {
  try {
    return await detector.detect(picture, signal);
  } catch (cause) {
    // The call has waited for its turn until the limit of its time.
    if (cause instanceof DetectorBusyError || isTimeout(cause)) throw new ModelBusyError({ cause });
    if (signal.aborted) throw new VisionError('The frame was not judged in time. Try again.', { cause });
    if (!(cause instanceof DetectorError)) throw cause;
    throw new VisionError(`${cause.message}.`, { cause });
  }
}

type Picture = {
  rgb: Uint8Array;
  size: PictureSize;
  atSeconds: number | null;
  regions?: readonly Region[] | null | undefined;
};

async function toMoment(
  { rgb, size, atSeconds, regions }: Picture,
  detector: ObjectDetector,
  signal: AbortSignal,
): Promise<ObjectMoment> {
  const all = await detect({ ...size, rgb }, detector, signal);
  // An object belongs to where it stands: the middle of the lower edge of its box.
  const detections = regions
    ? all.filter(({ box }) => isWatched(regions, box.x + box.width / 2, Math.min(box.y + box.height, 0.999)))
    : all;
  return {
    atSeconds,
    picture: { ...size, rgb },
    detections,
    ...(regions && { all, regions, cutOff: new Set(detections.filter(({ box }) => isCutOff(regions, box))) }),
    measured: null,
  };
}

function failMissingMoment(): never {
  throw new VisionError('The capture has no such moment. Try again.');
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
