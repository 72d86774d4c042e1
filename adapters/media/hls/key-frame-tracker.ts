import { lastKeyFrameOffsetMp4 } from './mp4-key-frames.ts';
import type { Segment } from './playlist.ts';
import { segmentFormat } from './segment-format.ts';
import { lastKeyFrameOffsetTs } from './ts-key-frames.ts';

/** Records the time of the last key frame: the frame that ffmpeg outputs. */
export type KeyFrameTracker = {
  /**
   * Yields the parts unchanged on their way to ffmpeg: the media initialization section, if any, then each whole
   * segment.
   */
  watch(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** Time of the last key frame, or null if the playlist or the bytes do not contain it. */
  lastKeyFrameAt(): Date | null;
};

/** Creates the tracker for segments in playlist order. */
export function createKeyFrameTracker(segments: Segment[]): KeyFrameTracker {
  let lastAt: Date | null = null;
  return { watch, lastKeyFrameAt: () => lastAt };

  async function* watch(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const left = [...segments];
    let initialization: Uint8Array | null = null;
    let isFirst = true;
    for await (const part of parts) {
      if (isFirst && segments[0]?.initialization) initialization = part;
      else lastAt = dated(left.shift(), part, initialization) ?? lastAt;
      isFirst = false;
      yield part;
    }
  }
}

function dated(
  segment: Segment | undefined,
  bytes: Uint8Array,
  initialization: Uint8Array | null,
): Date | null {
  if (!segment?.startsAt) return null;
  const seconds =
    segmentFormat(segment) === 'mov'
      ? lastKeyFrameOffsetMp4(bytes, initialization)
      : lastKeyFrameOffsetTs(bytes);
  // Rejects a time beyond its segment, and NaN from a timescale of 0.
  if (seconds === null || !(seconds <= segment.durationSeconds + 1)) return null;
  return new Date(segment.startsAt.getTime() + seconds * 1000);
}
