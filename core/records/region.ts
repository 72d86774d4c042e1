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
