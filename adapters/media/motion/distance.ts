import type { Light } from './light-fit.ts';
import type { Plane } from './planes.ts';

/**
 * How far each pixel lies outside of what the reference shows within one pixel around it, in levels. Inside of that
 * 3×3 interval is no distance at all, which takes shake and the noise of edges away.
 */
export function distances(reference: Plane, current: Plane, light: Light, local: Float32Array): Uint8Array {
  const { low, high } = intervals(reference);
  const found = new Uint8Array(current.samples.length);
  for (let at = 0; at < found.length; at += 1) {
    const seen = (current.samples[at] ?? 0) - light.offset - (local[at] ?? 0);
    const above = seen - light.gain * (high[at] ?? 0);
    const below = light.gain * (low[at] ?? 0) - seen;
    found[at] = Math.max(above, below, 0);
  }
  return found;
}

function intervals({ samples, width, height }: Plane): { low: Uint8Array; high: Uint8Array } {
  const lowInRow = new Uint8Array(samples.length);
  const highInRow = new Uint8Array(samples.length);
  for (let y = 0; y < height; y += 1) {
    const row = y * width;
    for (let x = 0; x < width; x += 1) {
      const a = samples[row + Math.max(x - 1, 0)] ?? 0;
      const b = samples[row + x] ?? 0;
      const c = samples[row + Math.min(x + 1, width - 1)] ?? 0;
      lowInRow[row + x] = Math.min(a, b, c);
      highInRow[row + x] = Math.max(a, b, c);
    }
  }
  const low = new Uint8Array(samples.length);
  const high = new Uint8Array(samples.length);
  for (let y = 0; y < height; y += 1) {
    const above = Math.max(y - 1, 0) * width;
    const row = y * width;
    const below = Math.min(y + 1, height - 1) * width;
    for (let x = 0; x < width; x += 1) {
      low[row + x] = Math.min(lowInRow[above + x] ?? 0, lowInRow[row + x] ?? 0, lowInRow[below + x] ?? 0);
      high[row + x] = Math.max(highInRow[above + x] ?? 0, highInRow[row + x] ?? 0, highInRow[below + x] ?? 0);
    }
  }
  return { low, high };
}
