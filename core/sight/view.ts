import { thumbnail } from '../records/capture.ts';

/**
 * View of a camera: the directions of the edges in a picture, by cell. Light, weather and infrared change how strong
 * edges are, not where they lead.
 */

/** Side of a cell in pixels of the thumbnail. */
const side = 8;
/** Pixels around a cell that count too, so that a shaking camera has the same view. */
const margin = 2;
const columns = thumbnail.width / side;
const rows = Math.floor(thumbnail.height / side);
/** Directions, of half a turn together. */
const directions = 16;
/**
 * Least mean square of the gradient, in levels, and least share of it in one direction, for a cell with an edge: noise
 * and snow have none.
 */
const minEnergy = 16;
const minCoherence = 0.4;

/** Cell without an edge. */
const blank = '.';

/** Describes the view of a thumbnail: a digit for the direction of each cell, row by row. */
export function describeView(picture: Uint8Array): string {
  const smooth = blur(picture);
  let text = '';
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) text += describeCell(smooth, column, row);
  return text;
}

function describeCell(smooth: Float32Array, column: number, row: number): string {
  let [horizontal, vertical, mixed, pixels] = [0, 0, 0, 0];
  const [left, top] = [Math.max(2, column * side - margin), Math.max(2, row * side - margin)];
  const right = Math.min(thumbnail.width - 2, (column + 1) * side + margin);
  const bottom = Math.min(thumbnail.height - 2, (row + 1) * side + margin);
  const sample = (index: number) => smooth[index] ?? 0;
  for (let y = top; y < bottom; y += 1)
    for (let x = left; x < right; x += 1) {
      const index = y * thumbnail.width + x;
      const dx = (sample(index + 1) - sample(index - 1)) / 2;
      const dy = (sample(index + thumbnail.width) - sample(index - thumbnail.width)) / 2;
      horizontal += dx * dx;
      vertical += dy * dy;
      mixed += dx * dy;
      pixels += 1;
    }
  const energy = horizontal + vertical;
  const coherence = Math.hypot(horizontal - vertical, 2 * mixed) / energy;
  if (energy < minEnergy * pixels || coherence < minCoherence) return blank;
  const turn = Math.atan2(2 * mixed, horizontal - vertical) / (2 * Math.PI);
  return (Math.round((turn + 1) * directions) % directions).toString(directions);
}

/** Returns the brightness, each pixel with its neighbours. The border is 0. */
function blur(picture: Uint8Array): Float32Array {
  const { width, height } = thumbnail;
  const smooth = new Float32Array(width * height);
  const across = (index: number) =>
    (picture[index - 1] ?? 0) + 2 * (picture[index] ?? 0) + (picture[index + 1] ?? 0);
  for (let y = 1; y < height - 1; y += 1)
    for (let x = 1; x < width - 1; x += 1) {
      const index = y * width + x;
      smooth[index] = (across(index - width) + 2 * across(index) + across(index + width)) / 16;
    }
  return smooth;
}

/** Cells with an edge in both views, below which they say nothing about each other: at night, in fog. */
const minCells = 20;
/**
 * Similarity of two views, 1 for the same and about 0 for others: from here on they are the same, and below they are
 * others.
 */
const [minSame, maxOther] = [0.6, 0.45];
/** Similarity of a view that is moved, and how much less it has unmoved. */
const [minMoved, minGain] = [0.94, 0.2];
/** Least and greatest distance of a moved view, in cells. */
const [nearest, farthest] = [2, 10];

/** Returns whether two views are of the same scene and direction; `unclear` if they show too little. */
export function compareViews(before: string, after: string): 'same' | 'other' | 'unclear' {
  const unmoved = compareAt(before, after, 0, 0);
  const moved = findMoved(before, after);
  if (moved >= minMoved && moved - unmoved.similarity >= minGain) return 'other';
  if (unmoved.cells >= 1.5 * minCells && unmoved.similarity < maxOther) return 'other';
  return unmoved.cells >= minCells && unmoved.similarity >= minSame ? 'same' : 'unclear';
}

/** Returns the greatest similarity of two views of which one is moved. */
function findMoved(before: string, after: string): number {
  let greatest = -1;
  for (let down = -farthest / 2; down <= farthest / 2; down += 1)
    for (let across = -farthest; across <= farthest; across += 1) {
      if (Math.max(Math.abs(down), Math.abs(across)) < nearest) continue;
      const { cells, similarity } = compareAt(before, after, across, down);
      if (cells >= minCells) greatest = Math.max(greatest, similarity);
    }
  return greatest;
}

/** Cosines of twice the angle between two directions, by their difference. */
const cosines = Array.from({ length: directions }, (_, difference) =>
  Math.cos((2 * Math.PI * difference) / directions),
);

/** Compares the cells of a view with those of another that is moved by some cells. */
function compareAt(before: string, after: string, across: number, down: number) {
  let [sum, cells] = [0, 0];
  for (let row = Math.max(0, -down); row < Math.min(rows, rows - down); row += 1)
    for (let column = Math.max(0, -across); column < Math.min(columns, columns - across); column += 1) {
      const one = before[(row + down) * columns + column + across] ?? blank;
      const other = after[row * columns + column] ?? blank;
      if (one === blank || other === blank) continue;
      sum += cosines[Math.abs(parseInt(one, directions) - parseInt(other, directions))] ?? 0;
      cells += 1;
    }
  return { cells, similarity: cells === 0 ? 0 : sum / cells };
}

/** Returns true if a view has enough edges to be compared. */
export function isTelling(view: string): boolean {
  return view.length - view.split(blank).length + 1 >= 2 * minCells;
}
