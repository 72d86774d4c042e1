import { TransientError, VisionError } from '../../../core/errors.ts';
import type { ContactSheets } from '../../../core/ports/contact-sheets.ts';
import { burnInTime } from './contact-sheet-clock.ts';
import { createImageDecoder } from '../ffmpeg/decode-image.ts';
import type { ImageSize } from '../ffmpeg/decode-image.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { encodeJpeg } from '../ffmpeg/encode-jpeg.ts';

/** Width of the black lines between tiles, in pixels. They keep a model from reading two frames as one scene. */
const linePixels = 4;

/**
 * Creates contact sheets with ffmpeg, which only reads and writes pipes. `make` throws `VisionError` or
 * `TransientError`.
 */
export function createContactSheets(options: { ffmpegPath: string; inTurn?: InTurn }): ContactSheets {
  const { ffmpegPath, inTurn = withoutTurns } = options;
  const decoder = createImageDecoder({ ffmpegPath });
  return {
    make: async (samples, { columns, tileWidthPixels }, signal) => {
      const tile = tileSize(tileWidthPixels);
      const frames = samples.map(({ frame }) => frame);
      const make = async () => {
        const decoded = await decoder.decodeEach(frames, tile, signal, 'whole');
        const tiles = decoded.map((rgb) => rgb ?? crossedOut(tile));
        samples.forEach(({ capturedAt }, at) => {
          const rgb = tiles[at];
          if (rgb) burnInTime(rgb, tile, capturedAt);
        });
        const sheet = joinTiles(tiles, tile, columns);
        return encodeJpeg(sheet.rgb, sheet.size, ffmpegPath, signal);
      };
      try {
        return await inTurn(make, signal);
      } catch (cause) {
        if (cause instanceof TransientError) throw cause;
        throw new VisionError('The contact sheet could not be created. Retry the request in a few seconds.', {
          calls: [],
          cause,
        });
      }
    },
  };
}

/** Returns the 16:9 tile size. The height is even, as 4:2:0 requires. */
function tileSize(widthPixels: number): ImageSize {
  return { width: widthPixels, height: Math.round((widthPixels * 9) / 32) * 2 };
}

function joinTiles(tiles: Uint8Array[], tile: ImageSize, columns: number) {
  const rows = Math.ceil(tiles.length / columns);
  const size = { width: spanPixels(columns, tile.width), height: spanPixels(rows, tile.height) };
  const rgb = new Uint8Array(size.width * size.height * 3);
  tiles.forEach((picture, at) => {
    const left = (at % columns) * (tile.width + linePixels);
    const top = Math.floor(at / columns) * (tile.height + linePixels);
    for (let row = 0; row < tile.height; row += 1) {
      const line = picture.subarray(row * tile.width * 3, (row + 1) * tile.width * 3);
      rgb.set(line, ((top + row) * size.width + left) * 3);
    }
  });
  return { rgb, size };
}

function spanPixels(tiles: number, tilePixels: number): number {
  return tiles * tilePixels + (tiles - 1) * linePixels;
}

/** Returns a black image with a white diagonal cross, in packed RGB: the placeholder for an unreadable frame. */
function crossedOut({ width, height }: ImageSize): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const across = Math.floor((y * (width - 1)) / Math.max(1, height - 1));
    for (const middle of [across, width - 1 - across]) {
      const from = Math.max(0, middle - strokePixels);
      rgb.fill(255, (y * width + from) * 3, (y * width + Math.min(width, middle + strokePixels)) * 3);
    }
  }
  return rgb;
}

const strokePixels = 2;
