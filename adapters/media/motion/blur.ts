import type { Plane, Planes } from './planes.ts';

export function blurPlanes({ luma, blueness, redness }: Planes): Planes {
  return { luma: blur(luma), blueness: blur(blueness), redness: blur(redness) };
}

/** 3×3 mean, edges repeated: takes single-pixel noise down by about two thirds and keeps what is two pixels wide. */
function blur(plane: Plane): Plane {
  const { samples, width, height } = plane;
  const rows = new Uint16Array(samples.length);
  for (let y = 0; y < height; y += 1) {
    const row = y * width;
    for (let x = 0; x < width; x += 1) {
      const left = samples[row + Math.max(x - 1, 0)] ?? 0;
      const right = samples[row + Math.min(x + 1, width - 1)] ?? 0;
      rows[row + x] = left + (samples[row + x] ?? 0) + right;
    }
  }
  const blurred = new Uint8Array(samples.length);
  for (let y = 0; y < height; y += 1) {
    const above = Math.max(y - 1, 0) * width;
    const row = y * width;
    const below = Math.min(y + 1, height - 1) * width;
    for (let x = 0; x < width; x += 1) {
      const total = (rows[above + x] ?? 0) + (rows[row + x] ?? 0) + (rows[below + x] ?? 0);
      blurred[row + x] = (total + 4) / 9;
    }
  }
  return { samples: blurred, width, height };
}
