import type { Region } from './capture.ts';

/**
 * Returns true if a point belongs to the watched part of the frame: inside of an included region, if there is one, and
 * of no excluded one.
 */
export function isWatched(regions: readonly Region[], x: number, y: number): boolean {
  const included = regions.filter(({ mode }) => mode === 'include');
  const excluded = regions.filter(({ mode }) => mode === 'exclude');
  return (
    (included.length === 0 || included.some((region) => contains(region, x, y))) &&
    !excluded.some((region) => contains(region, x, y))
  );
}

/** Returns a mask by rows, 1 for each watched cell, decided at its center. */
export function createRegionMask(regions: readonly Region[], width: number, height: number): Uint8Array {
  const mask = new Uint8Array(width * height);
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1)
      if (isWatched(regions, (column + 0.5) / width, (row + 0.5) / height)) mask[row * width + column] = 1;
  return mask;
}

/** Steps in which a box is searched for a hidden part, and the part of the picture around it that is its edge. */
const boxSteps = 12;
const edge = 0.02;

/** Returns true if an excluded region hides a part of a box, in shares of the picture, or touches it. */
export function isCutOff(
  regions: readonly Region[],
  box: { x: number; y: number; width: number; height: number },
): boolean {
  const hidden = regions.filter(({ mode }) => mode === 'exclude');
  const steps = Array.from({ length: boxSteps + 1 }, (_, step) => step / boxSteps);
  return steps.some((across) =>
    steps.some((down) =>
      hidden.some((region) =>
        contains(region, placeIn(box.x, box.width, across), placeIn(box.y, box.height, down)),
      ),
    ),
  );
}

/** Returns the place at a share of a side of a box with its edge. */
function placeIn(begin: number, length: number, share: number): number {
  return begin - edge + (length + 2 * edge) * share;
}

/** Even-odd rule: crossings of a ray to the left. */
function contains({ points }: Region, x: number, y: number): boolean {
  let inside = false;
  for (const [[x1, y1], [x2, y2]] of listEdges(points))
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  return inside;
}

type Point = readonly [number, number];

/** Lists the edges of a polygon, the last one back to the first corner. */
export function listEdges(points: Region['points']): (readonly [Point, Point])[] {
  const corners = points.map(([x = 0, y = 0]): Point => [x, y]);
  return corners.map((corner, index) => [corner, corners[(index + 1) % corners.length] ?? corner] as const);
}
