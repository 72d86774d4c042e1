import { decodeKeyFrame } from '../../ffmpeg/decode-frame.ts';
import type { FfmpegRunner, KeyFramePicture, FfmpegOutput } from '../../ffmpeg/run-ffmpeg.ts';
import { placeKeyFrame } from '../../mpeg-ts/extract-key-frames.ts';
import { minDistanceSeconds } from '../../scan/measure-scan.ts';
import { sparseGap, type ReadSegment, beginsWithKeyFrame } from './read-segment.ts';
import type { ScanBudget } from './scan-budget.ts';
import { segmentFormat } from '../segments/segment-format.ts';

/** Frame of a scan: its segment, and its time in it. */
export type DecodedFrame = KeyFrameTime & KeyFramePicture;

/** Result of a scan's decoding, without an order. `failed` are the segments of which nothing can be decoded. */
export type DecodedSegments = {
  frames: DecodedFrame[];
  failed: ReadSegment[];
  /** Longest time between two key frames that are far apart, if the frames between them were not decoded; else 0. */
  blindSeconds: number;
};

export type ScanDecoding = { ffmpeg: FfmpegRunner; caller: string | undefined; budget: ScanBudget };

/** Maximum runs with a process each, newest first: a playlist may list a discontinuity at each segment. */
const maxRuns = 4;
/** Maximum segments of a run that are decoded alone. */
const maxAlone = 16;

/**
 * Segments of a scan, oldest first. `begin` are those before them with the begin of their first group. `gapSeconds` is
 * the time without a key frame at their end, also where it is longer than they are.
 */
type ScannedSegments = {
  begin?: readonly ReadSegment[];
  segments: readonly ReadSegment[];
  gapSeconds?: number;
};

/**
 * Decodes the key frames of segments, in one run for each span with the same encoding, then the frames between those
 * that are far apart. Throws the abort reason.
 */
export async function decodeSegments(
  deps: ScanDecoding,
  { begin = [], segments, gapSeconds = 0 }: ScannedSegments,
  signal: AbortSignal,
): Promise<DecodedSegments> {
  const runs = splitRuns(segments).toReversed();
  const frames: DecodedFrame[] = [];
  const failed: ReadSegment[] = [];
  const sparse: ReadSegment[][] = [];
  const computeGap = (run: ReadSegment[]) => Math.max(sparseGap(run), run === runs[0] ? gapSeconds : 0);
  for (const [index, run] of runs.entries()) {
    const decoded = index < maxRuns ? await tryDecode(deps, run, signal) : nothingOf(run);
    failed.push(...decoded.failed);
    frames.push(...decoded.frames);
    if (decoded.failed.length < run.length && computeGap(run) > 0) sparse.push(run);
  }
  let blindSeconds = 0;
  for (const run of sparse) {
    const whole = run[0] === segments[0] ? [...begin, ...run] : run;
    const between = blindSeconds > 0 ? null : await decodeBetween(deps, whole, signal);
    if (between === null) blindSeconds = Math.max(blindSeconds, computeGap(run));
    else frames.push(...between.filter(({ segment }) => !begin.some((each) => each.segment === segment)));
  }
  return { frames, failed, blindSeconds };
}

/** Splits segments at discontinuities, at missing segments, and where the encoding or the kind of bytes changes. */
function splitRuns(segments: readonly ReadSegment[]): ReadSegment[][] {
  const runs: ReadSegment[][] = [];
  for (const segment of segments) {
    const before = runs.at(-1)?.at(-1);
    if (before !== undefined && continues(before, segment)) runs.at(-1)?.push(segment);
    else runs.push([segment]);
  }
  return runs;
}

function continues(before: ReadSegment, next: ReadSegment): boolean {
  return (
    !next.segment.discontinuity &&
    next.segment.sequence === before.segment.sequence + 1n &&
    next.kind === before.kind &&
    segmentFormat(next.segment) === segmentFormat(before.segment) &&
    next.segment.initialization?.url === before.segment.initialization?.url &&
    next.segment.initialization?.byteRange?.offset === before.segment.initialization?.byteRange?.offset
  );
}

type DecodedRun = Pick<DecodedSegments, 'frames' | 'failed'>;

function nothingOf(run: readonly ReadSegment[]): DecodedRun {
  return { frames: [], failed: [...run] };
}

/**
 * If the key frames of whole segments cannot be told apart in one run, decodes each segment alone, the newest ones
 * first.
 */
async function tryDecode(deps: ScanDecoding, run: ReadSegment[], signal: AbortSignal): Promise<DecodedRun> {
  const { times, outputs } = await decodeTogether(deps, run, signal);
  if (times.length === outputs.length) {
    const frames = outputs.flatMap((output, index) => {
      const time = times[index];
      return output && time ? [{ ...time, frame: output.frame, thumbnail: output.thumbnail }] : [];
    });
    const has = (list: readonly KeyFrameTime[], { segment }: ReadSegment) =>
      list.some((each) => each.segment === segment);
    const failed = run.filter((segment) => has(times, segment) && !has(frames, segment));
    return times.length > 0 && frames.length === 0 ? nothingOf(run) : { frames: thinOut(frames), failed };
  }
  if (run.length === 1) return nothingOf(run);
  const alone: DecodedRun[] = [];
  for (const [index, segment] of run.toReversed().entries())
    alone.push(index < maxAlone ? await tryDecode(deps, [segment], signal) : nothingOf([segment]));
  return {
    frames: thinOut(alone.toReversed().flatMap(({ frames }) => frames)),
    failed: alone.flatMap(({ failed }) => failed),
  };
}

/** Returns the times of key frames, and their pictures: as many, unless the decoder dropped some or stopped. */
async function decodeTogether(
  { ffmpeg, caller, budget }: ScanDecoding,
  run: ReadSegment[],
  signal: AbortSignal,
): Promise<{ times: KeyFrameTime[]; outputs: readonly (KeyFramePicture | null)[] }> {
  const { chunks, times } = toInput(run);
  if (times.length === 0) return { times, outputs: [] };
  const isEach = run[0]?.kind === 'extracts';
  const input = { kind: 'pipe', format: segmentFormat(run[0]?.segment), chunks } as const;
  const decode = (bounded: AbortSignal) =>
    ffmpeg.runAll(input, { caller, isEach }, { timeoutMs: Math.max(1, budget.leftMs()) }, bounded);
  try {
    return { times, outputs: await budget.within(decode, signal) };
  } catch {
    signal.throwIfAborted();
    return { times, outputs: times.map(() => null) };
  }
}

/** `extract` are the bytes of a key frame that can be decoded alone. */
type KeyFrameTime = { segment: ReadSegment['segment']; seconds: number; extract?: Uint8Array };

/** Returns the bytes of a run for ffmpeg, and the times of the key frames that it outputs. */
function toInput(run: ReadSegment[]): { chunks: Uint8Array[]; times: KeyFrameTime[] } {
  const times = run.flatMap(({ segment, seconds }) => seconds.map((each) => ({ segment, seconds: each })));
  const extracts = run.flatMap((segment) => (segment.kind === 'extracts' ? segment.extracts : []));
  if (extracts.length > 0) {
    const kept = thinOut(
      times.flatMap((time, index) => {
        const extract = extracts[index];
        return extract ? { ...time, extract: extract.bytes, videoPid: extract.videoPid } : [];
      }),
    );
    for (const [index, { extract, videoPid }] of kept.entries()) placeKeyFrame(extract, videoPid, index + 1);
    return { chunks: kept.map(({ extract }) => extract), times: kept };
  }
  const whole = run.filter(({ kind }) => kind === 'whole');
  const initialization = whole[0]?.initialization;
  return { chunks: [...(initialization ? [initialization] : []), ...whole.map(({ bytes }) => bytes)], times };
}

/** Drops frames that follow another one too soon. */
function thinOut<Time extends KeyFrameTime>(times: readonly Time[]): Time[] {
  let runSeconds = 0;
  let current = times[0]?.segment;
  let keptSeconds = -Infinity;
  return times.filter(({ segment, seconds }) => {
    if (segment !== current) runSeconds += current?.durationSeconds ?? 0;
    current = segment;
    if (runSeconds + seconds - keptSeconds < minDistanceSeconds) return false;
    keptSeconds = runSeconds + seconds;
    return true;
  });
}

/**
 * Returns the frame of a decoded key frame for the model; `null` if it cannot be decoded any more. Throws the abort
 * reason.
 */
export async function readFrame(
  { ffmpeg, caller, budget }: ScanDecoding,
  { frame, extract }: Pick<DecodedFrame, 'frame' | 'extract'>,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (frame || !extract) return frame;
  const decode = (bounded: AbortSignal): Promise<Uint8Array | null> =>
    decodeKeyFrame(
      ffmpeg,
      { kind: 'pipe', format: 'mpegts', chunks: [extract] },
      { caller, timeoutMs: Math.max(1, budget.leftMs()) },
      bounded,
    );
  try {
    return await budget.within(decode, signal);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

type BetweenFrame = FfmpegOutput & { segment: ReadSegment['segment']; seconds: number };

/** Time from the last frame that is decoded to the end of a group: a frame of a stream with few of them. */
const endSeconds = 0.15;
/** Difference of the times of one frame. */
const sameSeconds = 0.06;
/** Time of the scan that its pictures have. */
const reservedMs = 1_000;

/**
 * Decodes the frames between the key frames of a run at one a second, the newest ones first, up to a frame just before
 * its end. Leaves out what follows a damaged frame in its group. Returns null if there is no time for all groups.
 * Throws the abort reason.
 */
export async function decodeBetween(
  { ffmpeg, budget }: { ffmpeg: FfmpegRunner; budget: ScanBudget },
  run: readonly ReadSegment[],
  signal: AbortSignal,
): Promise<BetweenFrame[] | null> {
  const frames: BetweenFrame[] = [];
  for (const group of splitGroups(run).toReversed()) {
    const timeoutMs = budget.leftMs() - reservedMs;
    if (timeoutMs <= 0) return null;
    const { input, clock, keyFrames, toTime } = readGroup(group);
    const decode = async (bounded: AbortSignal) =>
      (await ffmpeg.runEachSecond?.(input, clock, { timeoutMs }, bounded)) ?? null;
    const pictures = await budget.within(decode, signal).catch(() => null);
    signal.throwIfAborted();
    if (pictures === null) return null;
    for (const { seconds: atSeconds, ...picture } of pictures) {
      const time = toTime(atSeconds);
      if (keyFrames.some((each) => each.segment === time.segment && isSame(each.seconds, time.seconds)))
        continue;
      frames.push({ ...picture, ...time });
    }
  }
  return frames;
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) < sameSeconds;
}

/**
 * Splits a run into segments that begin with a key frame, each with those after it that do not. After a hole, a group
 * begins in the first segment with a key frame: what is before it there cannot be decoded. Leaves out segments without
 * a begin, or without bytes.
 */
function splitGroups(run: readonly ReadSegment[]): ReadSegment[][] {
  const groups: ReadSegment[][] = [];
  let isWhole = false;
  for (const segment of run) {
    const continuesGroup = isWhole && !beginsWithKeyFrame(segment);
    isWhole = segment.bytes.length > 0 && (isWhole || segment.seconds.length > 0);
    if (isWhole && continuesGroup) groups.at(-1)?.push(segment);
    else if (isWhole) groups.push([segment]);
  }
  return groups;
}

/** Returns the bytes of a group, and a clock of which a whole second is just before its end. */
function readGroup(group: readonly ReadSegment[]) {
  const [first] = group;
  const keySeconds = first?.seconds[0] ?? 0;
  const length = group.reduce((sum, { segment }) => sum + segment.durationSeconds, 0);
  const lastSeconds = Math.max(0, length - keySeconds - endSeconds);
  const fromSeconds = Math.ceil(lastSeconds) - lastSeconds;
  const chunks = [
    ...(first?.initialization ? [first.initialization] : []),
    ...group.map(({ bytes }) => bytes),
  ];
  return {
    input: { kind: 'pipe', format: segmentFormat(first?.segment), chunks } as const,
    clock: { fromSeconds, isRebased: true },
    keyFrames: group.flatMap(({ segment, seconds }) => seconds.map((each) => ({ segment, seconds: each }))),
    toTime: (atSeconds: number) => findTime(group, atSeconds - fromSeconds + keySeconds),
  };
}

/** Returns the segment of a time of a group, and the time in it. */
function findTime(
  group: readonly ReadSegment[],
  atSeconds: number,
): { segment: ReadSegment['segment']; seconds: number } {
  let seconds = atSeconds;
  const index = group.findIndex(({ segment: { durationSeconds } }, place) => {
    if (seconds < durationSeconds || place === group.length - 1) return true;
    seconds -= durationSeconds;
    return false;
  });
  const item = group[index];
  if (!item) throw new Error('A group has no segments');
  return { segment: item.segment, seconds };
}
