import { extractKeyFrames, type KeyFrameExtract } from './extract-last-key-frame.ts';
import { beginsRefresh } from '../mpeg-ts/access-units.ts';
import { beginsRefreshMp4, keyFrameOffsetsMp4 } from './mp4-key-frames.ts';
import type { Segment } from './playlist.ts';
import { segmentFormat } from './segment-format.ts';
import { keyFrameOffsetsTs } from './ts-key-frames.ts';

/** Key frames of a fetched segment, undecoded. Times in seconds from the start of the segment. */
export type ReadSegment = { segment: Segment; seconds: number[] } & (
  | { kind: 'extracts'; extracts: KeyFrameExtract[] }
  /** Format whose key frames only ffmpeg can take out. */
  | { kind: 'whole'; initialization: Uint8Array | null; bytes: Uint8Array }
  /** Bytes that cannot be parsed, or an intra refresh, whose pictures are not key frames. */
  | { kind: 'unreadable' }
);

/** A time beyond the segment by more than this is damage. */
const maxBeyondSeconds = 1;

/** Finds the key frames of a segment. Extracts have memory of their own. */
export function readSegment(
  segment: Segment,
  bytes: Uint8Array,
  initialization: Uint8Array | null,
): ReadSegment {
  const within = (times: number[]): number[] => times.map((seconds) => toSegmentTime(segment, seconds));
  const isMp4 = segmentFormat(segment) === 'mov';
  const hasRefresh = isMp4 ? beginsRefreshMp4([bytes], initialization ?? undefined) : beginsRefresh([bytes]);
  if (hasRefresh) return { kind: 'unreadable', segment, seconds: [] };
  const extracts = isMp4 ? null : extractKeyFrames(bytes);
  if (extracts)
    return { kind: 'extracts', segment, extracts, seconds: within(extracts.map(({ seconds }) => seconds)) };
  const times = isMp4 ? keyFrameOffsetsMp4(bytes, initialization) : keyFrameOffsetsTs(bytes);
  if (times === null) return { kind: 'unreadable', segment, seconds: [] };
  return { kind: 'whole', segment, initialization, bytes, seconds: within(times) };
}

/** NaN comes from a timescale of 0. */
function toSegmentTime({ durationSeconds }: Segment, seconds: number): number {
  return seconds >= 0 && seconds <= durationSeconds + maxBeyondSeconds ? seconds : 0;
}
