import { objectClasses } from './classes.ts';
import type { Box, Detection, PictureSize } from './detector.ts';

/** Minimum score of a reported detection: below it there is no trace of an object. */
export const minScore = 0.05;
const maxDetections = 100;
/** Boxes of one class that overlap by more are one object. */
const maxOverlap = 0.55;
/**
 * Persons below this share of the height are rarely found, and a post or a sign far away looks like one: their scores
 * count less, so that they are seen from 0.4 instead of 0.3.
 */
const smallPerson = { height: 0.07, weight: 0.75 } as const;
/** Pixels of the input per cell of the output. */
const cellPixels = 4;

/**
 * Outputs of the network: a score per cell and class, and the distances of a cell's center to left, top, right and
 * bottom.
 */
export type NetworkOutput = { scores: Float32Array; extents: Float32Array };

/** Returns the detections in the output for an input of this size, best first. */
export function decodeDetections({ scores, extents }: NetworkOutput, size: PictureSize): Detection[] {
  const [columns, rows] = [size.width / cellPixels, size.height / cellPixels];
  const detections: Detection[] = [];
  for (let index = 0; index < scores.length; index += 1) {
    const score = scores[index] ?? 0;
    if (score < minScore) continue;
    const cell = Math.floor(index / objectClasses.length);
    const object = objectClasses[index % objectClasses.length];
    if (object === undefined || !isPeak(scores, index, columns, rows)) continue;
    const box = boxAt(
      cell % columns,
      Math.floor(cell / columns),
      extents.subarray(cell * 4, cell * 4 + 4),
      size,
    );
    if (box === null) continue;
    const isSmall = object === 'person' && box.height < smallPerson.height;
    detections.push({ object, score: isSmall ? score * smallPerson.weight : score, box });
  }
  return suppressDuplicates(detections.toSorted((a, b) => b.score - a.score)).slice(0, maxDetections);
}

/** Returns true if no neighbor of the cell has a higher score for the class. */
function isPeak(scores: Float32Array, index: number, columns: number, rows: number): boolean {
  const classes = objectClasses.length;
  const cell = Math.floor(index / classes);
  const [column, row] = [cell % columns, Math.floor(cell / columns)];
  const score = scores[index] ?? 0;
  for (let y = Math.max(row - 1, 0); y <= Math.min(row + 1, rows - 1); y += 1) {
    for (let x = Math.max(column - 1, 0); x <= Math.min(column + 1, columns - 1); x += 1) {
      if ((scores[(y * columns + x) * classes + (index % classes)] ?? 0) > score) return false;
    }
  }
  return true;
}

function boxAt(column: number, row: number, extent: Float32Array, size: PictureSize): Box | null {
  const [left = 0, top = 0, right = 0, bottom = 0] = extent;
  const x1 = within((column * cellPixels - left) / size.width);
  const y1 = within((row * cellPixels - top) / size.height);
  const x2 = within((column * cellPixels + right) / size.width);
  const y2 = within((row * cellPixels + bottom) / size.height);
  return x2 > x1 && y2 > y1 ? { x: x1, y: y1, width: x2 - x1, height: y2 - y1 } : null;
}

function within(share: number): number {
  return Math.min(Math.max(share, 0), 1);
}

function suppressDuplicates(sorted: Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const detection of sorted) {
    const isDuplicate = kept.some(
      ({ object, box }) => object === detection.object && overlap(box, detection.box) > maxOverlap,
    );
    if (!isDuplicate) kept.push(detection);
  }
  return kept;
}

/** Returns the intersection of two boxes by their union. */
export function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  const shared = width * height;
  return shared / (a.width * a.height + b.width * b.height - shared);
}
