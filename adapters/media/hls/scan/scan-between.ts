import type { FfmpegOutput, FfmpegRunner } from '../../ffmpeg/run-ffmpeg.ts';
import { beginsWithKeyFrame, type ReadSegment } from './read-segment.ts';
import type { ScanBudget } from './scan-budget.ts';
import { segmentFormat } from '../segments/segment-format.ts';

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
    const continues = isWhole && !beginsWithKeyFrame(segment);
    isWhole = segment.bytes.length > 0 && (isWhole || segment.seconds.length > 0);
    if (isWhole && continues) groups.at(-1)?.push(segment);
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
  const index = group.findIndex(({ segment: { durationSeconds } }, at) => {
    if (seconds < durationSeconds || at === group.length - 1) return true;
    seconds -= durationSeconds;
    return false;
  });
  const found = group[index];
  if (!found) throw new Error('A group has no segments');
  return { segment: found.segment, seconds };
}
