import { spawnSync } from 'node:child_process';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import type { PictureDecoder } from '../../../../adapters/vision/pixel/image-decoder.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';

const ffmpegDecoder = createImageDecoder({ ffmpegPath: 'ffmpeg' });
const decodedFrames = new Map<Uint8Array, Promise<Uint8Array>>();
const decodedClips = new Map<Uint8Array, Promise<Uint8Array[]>>();

/** Real decoder that decodes each image once: a table of conditions checks the same few repeatedly. */
const decoder: PictureDecoder = {
  decode: (frame, ...rest) => remembered(decodedFrames, frame, () => ffmpegDecoder.decode(frame, ...rest)),
  decodeEach: ffmpegDecoder.decodeEach,
  decodeClip: (clip, ...rest) =>
    remembered(decodedClips, clip, () => ffmpegDecoder.decodeClip(clip, ...rest)),
};

/** Built-in model without its detector: it measures. */
export const measuring = createObjectsVision({ decoder, detector: null });
export const timeout = () => AbortSignal.timeout(10_000);

/** Creates a JPEG like a capture, from an ffmpeg source. */
export function jpeg(source: string): Uint8Array {
  const mjpeg = ['-frames:v', '1', '-q:v', '3', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-f', 'image2pipe'];
  return ffmpeg([...lavfi(source), ...mjpeg, 'pipe:1']);
}

/** Creates a clip like a capture: H.264 MP4 of three seconds. */
export function mp4(source: string): Uint8Array {
  const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '28', '-pix_fmt', 'yuv420p'];
  const small = ['-t', '3', '-vf', 'fps=8,scale=-2:480'];
  const fragments = ['-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4'];
  return ffmpeg([...lavfi(source), ...small, ...h264, ...fragments, 'pipe:1']);
}

function remembered<Decoded>(
  cache: Map<Uint8Array, Promise<Decoded>>,
  bytes: Uint8Array,
  decode: () => Promise<Decoded>,
): Promise<Decoded> {
  const decoded = cache.get(bytes) ?? decode();
  cache.set(bytes, decoded);
  return decoded;
}

function lavfi(source: string): string[] {
  return ['-f', 'lavfi', '-i', source];
}

function ffmpeg(options: string[]): Uint8Array {
  const run = spawnSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...options], { maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return run.stdout;
}
