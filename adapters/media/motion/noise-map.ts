import { thumbnail } from '../../../core/capture.ts';

/**
 * How far each luma pixel is used to stray, learned from tick to tick. It follows half of what is new, so that
 * something seen once (it came) does not hide the next (it left), while a clock that changes at every tick is
 * known after two or three.
 */

const { width, height } = thumbnail;
/** Clocks, names and logos sit at the top and bottom edge; only there may a pixel become as restless as it likes. */
const stripRows = Math.round(height * 0.16);
/** In the rest a pixel never loses more sensitivity than this, in levels. */
const mostInside = 8;
/** Of a learned level, how much is added to the threshold. */
const share = 1.25;
/** A digit that changed makes its neighbours expected too: this far to the sides, in pixels. */
const reach = 6;

export function quietNoiseMap(): Uint8Array {
  return new Uint8Array(width * height);
}

/** What a pixel's distance must exceed, in levels above the common threshold. */
export function allowance(noise: Uint8Array, at: number): number {
  return share * (noise[at] ?? 0);
}

export function learnNoise(noise: Uint8Array, distance: Uint8Array): Uint8Array {
  const learned = new Uint8Array(noise.length);
  for (let y = 0; y < height; y += 1) {
    const strip = y < stripRows || y >= height - stripRows;
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const known = noise[at] ?? 0;
      const seen = strip ? widest(distance, y * width, x) : Math.min(distance[at] ?? 0, mostInside);
      learned[at] = seen > known ? (known + seen + 1) >> 1 : known - fading(known);
    }
  }
  return learned;
}

function widest(distance: Uint8Array, row: number, x: number): number {
  let most = 0;
  const end = Math.min(x + reach, width - 1);
  for (let near = Math.max(x - reach, 0); near <= end; near += 1) {
    most = Math.max(most, distance[row + near] ?? 0);
  }
  return most;
}

/** About 3 % a tick, at least one level in the end. */
function fading(level: number): number {
  return level === 0 ? 0 : Math.max(level >> 5, level < 32 ? 1 : 0);
}
