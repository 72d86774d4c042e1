import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TransientError } from '../../../core/errors.ts';
import type { ScanningCapturer } from '../../../core/ports/stream-capturer.ts';
import type { Capture, Region } from '../../../core/records/capture.ts';
import { shareCall, type SharedCall } from '../../../core/share-call.ts';
import {
  clipEncoding,
  clipInput,
  decodingLimits,
  jpegInput,
  jpegOutput,
  quietArguments,
  words,
} from '../ffmpeg/capture-arguments.ts';
import { withoutTurns, type InTurn } from '../ffmpeg/in-turn.ts';
import { spawnFfmpeg } from '../ffmpeg/spawn-ffmpeg.ts';
import { listEdges } from '../../../core/records/region.ts';

/** Filled rectangle in shares of the picture. */
type Box = { x: number; y: number; width: number; height: number };

/** Rows in which polygons are drawn. */
const rows = 120;

/**
 * Returns ffmpeg filters that blank excluded regions and outline included ones, for pictures and videos of any size.
 * ffmpeg draws no polygons: each is a stack of boxes, which cover it wholly.
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

/**
 * Covers a polygon by rows: in each, from crossing to crossing of its upper, middle and lower line, and each corner
 * inside of it.
 */
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

const timeoutMs = 10_000;
const maxBytes = 16 * 1024 * 1024;

export type MaskMediaDeps = {
  ffmpegPath: string;
  tempDir: string;
  inTurn?: InTurn;
};

/**
 * Draws regions into frame and clip: blanks excluded areas, outlines included ones. Throws `TransientError` if that
 * fails: excluded areas must not leave the service.
 */
type MaskMedia = (
  media: Pick<Capture, 'frame' | 'clip'>,
  regions: readonly Region[],
  signal: AbortSignal,
) => Promise<Pick<Capture, 'frame' | 'clip'>>;

/** Creates a function that draws regions with ffmpeg, in one process for each of frame and clip. */
export function createMaskMedia({ ffmpegPath, tempDir, inTurn = withoutTurns }: MaskMediaDeps): MaskMedia {
  return async ({ frame, clip }, regions, signal) => {
    const filters = regionFilters(regions).join(',');
    const [masked, maskedClip] = await Promise.all([
      draw(frame, [...jpegInput, '-vf', filters, ...jpegOutput], signal),
      clip && drawClip(clip, filters, signal),
    ]);
    return { frame: masked, ...(maskedClip && { clip: maskedClip }) };
  };

  async function draw(input: Uint8Array, args: string[], signal: AbortSignal): Promise<Uint8Array> {
    const outcome = await run(input, args, signal);
    if (outcome.stdout.length === 0) throw failed(outcome.stderr);
    return outcome.stdout;
  }

  /** An MP4 with its index at the front needs a file. */
  async function drawClip(clip: Uint8Array, filters: string, signal: AbortSignal): Promise<Uint8Array> {
    const file = join(tempDir, `masked-${randomUUID()}.mp4`);
    await mkdir(tempDir, { recursive: true });
    try {
      const output = [...clipEncoding, ...words('-pix_fmt yuv420p -movflags +faststart -f mp4 -y'), file];
      await run(clip, [...clipInput, '-vf', filters, ...output], signal);
      return await readFile(file);
    } finally {
      await rm(file, { force: true });
    }
  }

  async function run(input: Uint8Array, args: string[], signal: AbortSignal) {
    const drawing = {
      ffmpegPath,
      args: [...quietArguments, ...decodingLimits, ...args],
      input: [input],
      outputBytes: maxBytes,
      timeoutMs,
    };
    const outcome = await inTurn(() => spawnFfmpeg(drawing, signal), signal);
    if (outcome.ended !== 'exited' || outcome.exitCode !== 0) throw failed(outcome.stderr);
    return outcome;
  }
}

function failed(stderr: string): TransientError {
  return new TransientError('The regions of the watch could not be drawn', {
    cause: new Error(stderr.trim()),
  });
}

/**
 * Returns a capturer that draws the regions of a request. Other requests of the same stream share the capture below it.
 * Requests with the same regions also share the drawing.
 */
export function maskCaptures(streams: ScanningCapturer, maskMedia: MaskMedia): ScanningCapturer {
  const drawn = new WeakMap<Capture, Map<string, SharedCall<MaskedMedia>>>();
  return {
    probe: streams.probe,
    capture: async ({ regions, ...request }, signal) => {
      const capture = await streams.capture(request, signal);
      if (!regions || regions.length === 0) return capture;
      return { ...capture, ...(await draw(capture, regions).join(signal)) };
    },
    picture: async (scanned, { regions, ...request }, signal) => {
      const frame = await streams.picture(scanned, request, signal);
      if (!frame || !regions || regions.length === 0) return frame;
      return (await maskMedia({ frame }, regions, signal)).frame;
    },
  };

  function draw(capture: Capture, regions: readonly Region[]): SharedCall<MaskedMedia> {
    const key = JSON.stringify(regions);
    const ofCapture = drawn.get(capture) ?? new Map<string, SharedCall<MaskedMedia>>();
    drawn.set(capture, ofCapture);
    const shared = ofCapture.get(key);
    if (shared !== undefined) return shared;
    const forget = () => void ofCapture.delete(key);
    const call = shareCall((signal) => maskMedia(capture, regions, signal), forget);
    call.result.catch(forget);
    ofCapture.set(key, call);
    return call;
  }
}

type MaskedMedia = Awaited<ReturnType<MaskMedia>>;
