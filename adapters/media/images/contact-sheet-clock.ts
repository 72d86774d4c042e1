import type { ImageSize } from '../ffmpeg/decode-image.ts';

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
export function burnInTime(rgb: Uint8Array, { width, height }: ImageSize, time: Date): void {
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
