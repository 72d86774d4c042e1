import type { Light } from './light-fit.ts';
import type { Plane } from './planes.ts';

/** A coarse grid of what light did beyond the global fit: a cloud's shade, a lamp. In levels, at the cells' centres. */
export type LocalLight = { offsets: Float32Array; columns: number; rows: number };

const columns = 8;
const rows = 5;
/** More than this in one cell is no shade but a thing. */
const mostLevels = 10;

/** The median of what is left in each cell: something smaller than half a cell leaves no trace in it. */
export function localLight(reference: Plane, current: Plane, light: Light): LocalLight {
  const offsets = new Float32Array(columns * rows);
  const cellWidth = reference.width / columns;
  const cellHeight = reference.height / rows;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const left = Math.floor(column * cellWidth);
      const top = Math.floor(row * cellHeight);
      const residuals: number[] = [];
      for (let y = top; y < top + cellHeight; y += 2) {
        for (let x = left + (y & 1); x < left + cellWidth; x += 2) {
          const at = y * reference.width + x;
          residuals.push(
            (current.samples[at] ?? 0) - light.gain * (reference.samples[at] ?? 0) - light.offset,
          );
        }
      }
      const median = Int16Array.from(residuals).toSorted()[residuals.length >> 1] ?? 0;
      offsets[row * columns + column] = Math.min(Math.max(median, -mostLevels), mostLevels);
    }
  }
  return { offsets, columns, rows };
}

/** The grid brought to the size of a plane, bilinear between the centres of cells. */
export function spread(local: LocalLight, width: number, height: number): Float32Array {
  const spreadOut = new Float32Array(width * height);
  const across = steps(width, local.columns);
  for (const [y, vertical] of steps(height, local.rows).entries()) {
    const upper = vertical.low * local.columns;
    const lower = vertical.high * local.columns;
    for (let x = 0; x < width; x += 1) {
      const horizontal = across[x];
      if (horizontal === undefined) continue;
      const { low, high, share } = horizontal;
      const above =
        (local.offsets[upper + low] ?? 0) * (1 - share) + (local.offsets[upper + high] ?? 0) * share;
      const below =
        (local.offsets[lower + low] ?? 0) * (1 - share) + (local.offsets[lower + high] ?? 0) * share;
      spreadOut[y * width + x] = above * (1 - vertical.share) + below * vertical.share;
    }
  }
  return spreadOut;
}

function steps(length: number, cells: number): { low: number; high: number; share: number }[] {
  return Array.from({ length }, (_, at) => {
    const place = Math.min(Math.max(((at + 0.5) * cells) / length - 0.5, 0), cells - 1);
    const low = Math.floor(place);
    return { low, high: Math.min(low + 1, cells - 1), share: place - low };
  });
}
