import { keyFrameOffsetsMp4 } from './mp4-key-frames.ts';
import type { Segment } from '../playlist/playlist.ts';
import { segmentFormat } from './segment-format.ts';
import { keyFrameOffsetsTs } from '../../mpeg-ts/extract-key-frames.ts';

/** Records the time of the last key frame: the frame that ffmpeg outputs. */
export type KeyFrameTracker = ReturnType<typeof createKeyFrameTracker>;

/**
 * Creates the tracker for segments in playlist order. `report` is called with each segment before its bytes are passed
 * on.
 */
export function createKeyFrameTracker(
  segments: Segment[],
  report: (segment: Segment, bytes: Uint8Array, initialization: Uint8Array | null) => void = () => undefined,
) {
  let lastAt: Date | null = null;
  let lastIn: Segment | undefined;
  let isMarked = false;
  let hasFrames = false;
  /** Time since the last key frame up to the end of the segments without one. */
  let sinceSeconds = 0;
  let emptySeconds = 0;
  return {
    watch,
    /** Segment of the last key frame; undefined if the bytes do not show it. */
    lastKeyFrameIn: () => lastIn,
    /** Time of the last key frame, or null if the playlist or the bytes do not contain it. */
    lastKeyFrameAt: () => lastAt,
    /**
     * Longest time for which the segments had no key frame, in seconds: 0 if each has one. Undefined without a
     * marked key frame in any of them, because an encoder may mark none.
     */
    secondsWithoutKeyFrame: (): number | undefined => (isMarked ? emptySeconds : undefined),
    /** Returns true if a segment has frames, whether key frames or not. */
    hasFrames: () => hasFrames,
  };

  /**
   * Yields the parts unchanged on their way to ffmpeg: the media initialization section, if any, then each whole
   * segment.
   */
  async function* watch(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const left = [...segments];
    let initialization: Uint8Array | null = null;
    let isFirst = true;
    for await (const part of parts) {
      if (isFirst && segments[0]?.initialization) initialization = part;
      else note(left.shift(), part, initialization);
      isFirst = false;
      yield part;
    }
  }

  function note(segment: Segment | undefined, bytes: Uint8Array, initialization: Uint8Array | null): void {
    if (segment === undefined) return;
    report(segment, bytes, initialization);
    const offsets = keyFrameOffsets(segment, bytes, initialization);
    hasFrames ||= offsets !== null;
    const offsetSeconds = offsets?.at(-1);
    // Ignores a time beyond its segment, and NaN from a timescale of 0.
    if (offsetSeconds === undefined || !(offsetSeconds <= segment.durationSeconds + 1)) {
      sinceSeconds += segment.durationSeconds;
      emptySeconds = Math.max(emptySeconds, sinceSeconds);
      return;
    }
    isMarked = true;
    lastIn = segment;
    sinceSeconds = Math.max(0, segment.durationSeconds - offsetSeconds);
    if (segment.startsAt) lastAt = new Date(segment.startsAt.getTime() + offsetSeconds * 1000);
  }
}

function keyFrameOffsets(
  segment: Segment,
  bytes: Uint8Array,
  initialization: Uint8Array | null,
): number[] | null {
  return segmentFormat(segment) === 'mov'
    ? keyFrameOffsetsMp4(bytes, initialization)
    : keyFrameOffsetsTs(bytes);
}
