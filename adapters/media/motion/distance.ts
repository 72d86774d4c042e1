import { maxInt, minInt } from './integers.ts';
import { type LocalLight, lightUnit } from './local-light.ts';
import type { Plane } from './planes.ts';

const lightBits = Math.log2(lightUnit);

/**
 * Returns the distance of each pixel, in levels, from the range of the reference within `reach` pixels (0 or 1).
 * Inside the range it is 0, which suppresses small shifts and edge noise. `expected` maps each reference level to
 * its level in the current light. At the border, edge pixels are repeated.
 */
export function distances(
  reference: Plane,
  current: Uint8Array,
  expected: Int16Array,
  light: { local: LocalLight; at: Uint8Array },
  reach: 0 | 1,
): Uint8Array {
  const { width, height, samples } = reference;
  const { low, high } = reach === 0 ? { low: samples, high: samples } : extremesAlongRows(reference);
  const { local, at: lightAt } = light;
  const found = new Uint8Array(current.length);
  for (let y = 0; y < height; y += 1) {
    const up = y === 0 ? 0 : reach * width;
    const down = y === height - 1 ? 0 : reach * width;
    for (let at = y * width; at < (y + 1) * width; at += 1) {
      const least = minInt(minInt(low[at - up] ?? 0, low[at] ?? 0), low[at + down] ?? 0);
      const max = maxInt(maxInt(high[at - up] ?? 0, high[at] ?? 0), high[at + down] ?? 0);
      const lit = (local[at] ?? 0) * (lightAt[samples[at] ?? 0] ?? 0);
      const seen = (current[at] ?? 0) - ((lit + lightUnit / 2) >> lightBits);
      const beyond = maxInt(seen - (expected[max] ?? 0), (expected[least] ?? 0) - seen);
      found[at] = minInt(maxInt(beyond, 0), 255);
    }
  }
  return found;
}

function extremesAlongRows({ samples, width }: Plane): { low: Uint8Array; high: Uint8Array } {
  const low = new Uint8Array(samples.length);
  const high = new Uint8Array(samples.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = samples[row] ?? 0;
    let here = left;
    const last = row + width - 1;
    for (let at = row; at < last; at += 1) {
      const right = samples[at + 1] ?? 0;
      low[at] = minInt(left, minInt(here, right));
      high[at] = maxInt(left, maxInt(here, right));
      left = here;
      here = right;
    }
    low[last] = minInt(left, here);
    high[last] = maxInt(left, here);
  }
  return { low, high };
}
