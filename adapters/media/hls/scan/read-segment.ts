import {
  extractKeyFrames,
  type KeyFrameExtract,
  keyFrameOffsetsTs,
} from '../../mpeg-ts/extract-key-frames.ts';
import { beginsRefresh, indexAccessUnits } from '../../mpeg-ts/access-units.ts';
import { beginsRefreshMp4, keyFrameOffsetsMp4 } from '../segments/mp4-key-frames.ts';
import type { Segment } from '../playlist/playlist.ts';
import { segmentFormat } from '../segments/segment-format.ts';
import { sparseSeconds } from '../../scan/measure-scan.ts';

/** Key frames of a fetched segment, undecoded. Times in seconds from the start of the segment. */
export type ReadSegment = {
  segment: Segment;
  seconds: number[];
  initialization: Uint8Array | null;
  /** Empty if they are not available any more. */
  bytes: Uint8Array;
  /** Hash of the bytes, of segments that the capture fetched. */
  content?: string;
} & (
  | { kind: 'extracts'; extracts: KeyFrameExtract[] }
  /** Format whose key frames only ffmpeg can take out. */
  | { kind: 'whole' }
  /** Bytes that cannot be parsed, or an intra refresh, whose pictures are not key frames. */
  | { kind: 'unreadable' }
);

/** Time from the start of a segment up to which a key frame is its first frame. */
const maxStartSeconds = 0.3;
/** A time beyond the segment by more than this is damage. */
const maxBeyondSeconds = 1;

/** Finds the key frames of a segment. Extracts have memory of their own. */
export function readSegment(
  segment: Segment,
  bytes: Uint8Array,
  initialization: Uint8Array | null,
): ReadSegment {
  const within = (times: number[]): number[] => times.map((seconds) => toSegmentTime(segment, seconds));
  const read = { segment, initialization, bytes };
  const isMp4 = segmentFormat(segment) === 'mov';
  const index = isMp4 ? null : indexAccessUnits([bytes]);
  const hasRefresh = isMp4
    ? beginsRefreshMp4([bytes], initialization ?? undefined)
    : beginsRefresh([bytes], index);
  if (hasRefresh) return { ...read, kind: 'unreadable', seconds: [] };
  const extracts = isMp4 ? null : extractKeyFrames(bytes, index);
  if (extracts)
    return { ...read, kind: 'extracts', extracts, seconds: within(extracts.map(({ seconds }) => seconds)) };
  const times = isMp4 ? keyFrameOffsetsMp4(bytes, initialization) : keyFrameOffsetsTs(bytes);
  if (times === null) return { ...read, kind: 'unreadable', seconds: [] };
  return { ...read, kind: 'whole', seconds: within(times) };
}

/** Returns the longest time without a key frame, if frames between key frames are worth decoding; else 0. */
export function sparseGap(run: readonly Pick<ReadSegment, 'segment' | 'seconds'>[]): number {
  let startSeconds = 0;
  let before = 0;
  let longest = 0;
  const measure = (seconds: number): void => {
    longest = Math.max(longest, seconds - before);
    before = seconds;
  };
  for (const { segment, seconds } of run) {
    for (const each of seconds) measure(startSeconds + each);
    startSeconds += segment.durationSeconds;
  }
  measure(startSeconds);
  return longest > sparseSeconds ? longest : 0;
}

export function beginsWithKeyFrame({ seconds: [first = Infinity] }: Pick<ReadSegment, 'seconds'>): boolean {
  return first <= maxStartSeconds;
}

/** NaN comes from a timescale of 0. */
function toSegmentTime({ durationSeconds }: Segment, seconds: number): number {
  return seconds >= 0 && seconds <= durationSeconds + maxBeyondSeconds ? seconds : 0;
}
