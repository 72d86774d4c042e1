import { LRUCache } from 'lru-cache';
import type { ImageDecoder, ImageSize } from './decode-image.ts';
import { isPlainJpeg, startJpegDecoder, type JpegDecoderProcess } from './jpeg-decoder-process.ts';

export type ImageDecoderPoolDeps = { ffmpegPath: string; decoder: ImageDecoder };

/** Processes, each for one size of pictures. */
const maxProcesses = 3;
const keepIdleMs = 65_000;
const maxDecodeMs = 3_000;

/**
 * Returns a decoder whose `decodeCaptured` uses processes that stay: starting ffmpeg takes ten times as long as decoding a JPEG. Anything that they
 * cannot decode gets a process of its own.
 */
export function poolImageDecoders({ ffmpegPath, decoder }: ImageDecoderPoolDeps): ImageDecoder {
  const processes = new LRUCache<string, JpegDecoderProcess>({
    max: maxProcesses,
    dispose: (dismissed) => dismissed.close(),
  });
  const idleTimers = new Map<string, NodeJS.Timeout>();
  return {
    ...decoder,
    decodeCaptured: async (jpeg, size, signal) => {
      signal.throwIfAborted();
      const picture = isPlainJpeg(jpeg) ? await decodeShared(jpeg, size) : null;
      signal.throwIfAborted();
      return picture ?? decoder.decodeCaptured(jpeg, size, signal);
    },
  };

  async function decodeShared(jpeg: Uint8Array, size: ImageSize): Promise<Uint8Array | null> {
    const key = `${size.width}x${size.height}`;
    const shared = processes.get(key) ?? startJpegDecoder(ffmpegPath, size);
    if (shared.isBusy()) return null;
    processes.set(key, shared, { noDisposeOnSet: true });
    clearTimeout(idleTimers.get(key));
    const picture = await shared.decode(jpeg, maxDecodeMs);
    if (picture === null) {
      if (processes.peek(key) === shared) processes.delete(key);
    } else idleTimers.set(key, setTimeout(() => processes.delete(key), keepIdleMs).unref());
    return picture;
  }
}
