import { TransientError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { ContactSheets } from '../../../core/ports/stream-capturer.ts';
import { createImageDecoder, type ImageSize } from '../ffmpeg/decode-image.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { quietArguments } from '../ffmpeg/capture-arguments.ts';
import { spawnFfmpeg } from '../ffmpeg/spawn-ffmpeg.ts';

const timeoutMs = 10_000;
const jpegBytesLimit = 16 * 1024 * 1024;

/**
 * Encodes packed RGB (`width * height * 3` bytes) as JPEG. Throws an `Error` if ffmpeg fails, takes over 10 s, or
 * writes over 16 MiB.
 */
export async function encodeJpeg(
  rgb: Uint8Array,
  { width, height }: ImageSize,
  ffmpegPath: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const input = `-codec_whitelist rawvideo -protocol_whitelist pipe -f rawvideo -pixel_format rgb24 -video_size ${width}x${height} -i pipe:0`;
  const output = '-frames:v 1 -c:v mjpeg -q:v 4 -pix_fmt yuvj420p -f image2pipe pipe:1';
  const outcome = await spawnFfmpeg(
    {
      ffmpegPath,
      args: [...quietArguments, ...input.split(' '), ...output.split(' ')],
      input: [rgb],
      outputBytes: jpegBytesLimit,
      timeoutMs,
    },
    signal,
  );
  if (outcome.ended === 'exited' && outcome.exitCode === 0 && outcome.stdout.length > 0)
    return outcome.stdout;
  throw new Error(`Encoding a JPEG ${outcome.ended}: ${outcome.stderr.trim()}`);
}

/** Time of day drawn into an image with built-in glyphs, because the host may have no font. */

/** Glyphs: seven rows of five pixels, from the top. */
const figures: Record<string, readonly string[]> = {
  '0': ['.###.', '#...#', '#..##', '#.#.#', '##..#', '#...#', '.###.'],
  '1': ['..#..', '.##..', '..#..', '..#..', '..#..', '..#..', '.###.'],
  '2': ['.###.', '#...#', '....#', '..##.', '.#...', '#....', '#####'],
  '3': ['.###.', '#...#', '....#', '..##.', '....#', '#...#', '.###.'],
  '4': ['...#.', '..##.', '.#.#.', '#..#.', '#####', '...#.', '...#.'],
  '5': ['#####', '#....', '####.', '....#', '....#', '#...#', '.###.'],
  '6': ['..##.', '.#...', '#....', '####.', '#...#', '#...#', '.###.'],
  '7': ['#####', '....#', '...#.', '..#..', '.#...', '.#...', '.#...'],
  '8': ['.###.', '#...#', '#...#', '.###.', '#...#', '#...#', '.###.'],
  '9': ['.###.', '#...#', '#...#', '.####', '....#', '...#.', '.##..'],
  ':': ['.....', '..#..', '..#..', '.....', '..#..', '..#..', '.....'],
};

const figureWidth = 6;
const figureHeight = 7;
/** Pixels per glyph pixel. Glyphs of 21 px stay legible after a model has scaled the sheet down. */
const zoom = 3;
const margin = 2;

/** Draws `hh:mm:ss` (UTC), white on black, into the top left corner of an image in packed RGB. */
function burnInTime(rgb: Uint8Array, { width, height }: ImageSize, time: Date): void {
  const text = time.toISOString().slice(11, 19);
  const columns = text.length * figureWidth + 2 * margin - 1;
  const rows = figureHeight + 2 * margin;
  for (let y = 0; y < Math.min(rows * zoom, height); y += 1) {
    for (let x = 0; x < Math.min(columns * zoom, width); x += 1) {
      const lit = isLit(text, Math.floor(x / zoom) - margin, Math.floor(y / zoom) - margin);
      rgb.fill(lit ? 255 : 0, (y * width + x) * 3, (y * width + x + 1) * 3);
    }
  }
}

function isLit(text: string, column: number, row: number): boolean {
  const figure = figures[text[Math.floor(column / figureWidth)] ?? ''];
  return figure?.[row]?.[column % figureWidth] === '#';
}

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
        samples.forEach(({ capturedAt }, index) => {
          const rgb = tiles[index];
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
  tiles.forEach((picture, index) => {
    const left = (index % columns) * (tile.width + linePixels);
    const top = Math.floor(index / columns) * (tile.height + linePixels);
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
