import type { Region } from '../../../core/records/capture.ts';
import { listEdges } from '../../../core/records/region.ts';

/** Filled rectangle in shares of the picture. */
type Box = { x: number; y: number; width: number; height: number };

/** Rows in which polygons are drawn. */
const rows = 120;

/**
 * Returns ffmpeg filters that blank excluded regions and outline included ones, for pictures and videos of any size. ffmpeg draws no
 * polygons: each is a stack of boxes, which cover it wholly.
 */
export function regionFilters(regions: readonly Region[]): string[] {
  const outlines = regions.filter(({ mode }) => mode === 'include').flatMap(outlineBoxes);
  const blanked = regions.filter(({ mode }) => mode === 'exclude').flatMap(fillBoxes);
  return [
    ...outlines.map((box) => drawBox(box, 'black', 2)),
    ...outlines.map((box) => drawBox(box, 'white', 1)),
    ...blanked.map((box) => drawBox(box, 'black', blankedBorder)),
  ];
}

/** Pixels beyond a blanked area: ffmpeg rounds down, and the encoder spreads colors over pairs of pixels. */
const blankedBorder = 3;

function drawBox({ x, y, width, height }: Box, color: string, borderPixels: number): string {
  const [left, top] = [`iw*${x.toFixed(4)}-${borderPixels}`, `ih*${y.toFixed(4)}-${borderPixels}`];
  const [across, down] = [
    `iw*${width.toFixed(4)}+${borderPixels * 2}`,
    `ih*${height.toFixed(4)}+${borderPixels * 2}`,
  ];
  return `drawbox=x=${left}:y=${top}:w=${across}:h=${down}:color=${color}:t=fill`;
}

/** Covers a polygon by rows: in each, from crossing to crossing of its upper, middle and lower line, and each corner inside of it. */
function fillBoxes({ points }: Region): Box[] {
  const boxes: Box[] = [];
  for (let row = 0; row < rows; row += 1) {
    const [top, bottom] = [row / rows, (row + 1) / rows];
    const spans = mergeSpans([
      ...[top, (top + bottom) / 2, bottom].flatMap((y) => crossingSpans(points, y)),
      ...edgeSpans(points, top, bottom),
    ]);
    for (const [from, to] of spans) addBox(boxes, { x: from, y: top, width: to - from, height: 1 / rows });
  }
  return boxes;
}

function outlineBoxes({ points }: Region): Box[] {
  const boxes: Box[] = [];
  for (const edge of listEdges(points)) {
    const edgeBoxes: Box[] = [];
    const [[x1, y1], [x2, y2]] = edge;
    if (y1 === y2) edgeBoxes.push({ x: Math.min(x1, x2), y: y1, width: Math.abs(x2 - x1), height: 0 });
    else
      for (let row = 0; row < rows; row += 1) {
        const [top, bottom] = [row / rows, (row + 1) / rows];
        const [from, to] = [Math.max(top, Math.min(y1, y2)), Math.min(bottom, Math.max(y1, y2))];
        if (from >= to) continue;
        const [a, b] = [crossing(edge, from), crossing(edge, to)];
        addBox(edgeBoxes, { x: Math.min(a, b), y: from, width: Math.abs(b - a), height: to - from });
      }
    boxes.push(...edgeBoxes);
  }
  return boxes;
}

type Edge = ReturnType<typeof listEdges>[number];
type Span = readonly [number, number];

function crossing([[x1, y1], [x2, y2]]: Edge, y: number): number {
  return x1 + ((x2 - x1) * (y - y1)) / (y2 - y1);
}

function crossingSpans(points: Region['points'], y: number): Span[] {
  const crossings = listEdges(points)
    .filter(([[, y1], [, y2]]) => y1 > y !== y2 > y)
    .map((edge) => crossing(edge, y))
    .toSorted((a, b) => a - b);
  return crossings.flatMap((from, index): Span[] =>
    index % 2 === 0 ? [[from, crossings[index + 1] ?? from]] : [],
  );
}

/** Spans of the edges within a row, so that a thin or pointed part is covered too. */
function edgeSpans(points: Region['points'], top: number, bottom: number): Span[] {
  return listEdges(points).flatMap((edge): Span[] => {
    const [[x1, y1], [x2, y2]] = edge;
    const [from, to] = [Math.max(top, Math.min(y1, y2)), Math.min(bottom, Math.max(y1, y2))];
    if (from > to) return [];
    const [a, b] = y1 === y2 ? [x1, x2] : [crossing(edge, from), crossing(edge, to)];
    return [[Math.min(a, b), Math.max(a, b)]];
  });
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && span[0] <= last[1])
      merged[merged.length - 1] = [last[0], Math.max(last[1], span[1])];
    else merged.push(span);
  }
  return merged;
}

/** Adds a box, or extends the one above it if both have the same span: a rectangle is one box. */
function addBox(boxes: Box[], box: Box): void {
  const index = boxes.findIndex(
    (other) =>
      other.x === box.x && other.width === box.width && Math.abs(other.y + other.height - box.y) < 1e-9,
  );
  const above = boxes[index];
  if (above === undefined) boxes.push(box);
  else boxes[index] = { ...above, height: box.y + box.height - above.y };
}
