import { lastKeyFrameOfMp4 } from './mp4-key-frames.ts';
import type { Segment } from './playlist.ts';
import { formatOf } from './segment-format.ts';
import { lastKeyFrameOfTs } from './ts-key-frames.ts';

/** Dates the picture that ffmpeg takes of segments as a frame: their last key frame. */
export type KeyFrameClock = {
  /** Looks at the parts on their way to ffmpeg: the init section if there is one, then each segment whole. */
  watch(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  /** Null where playlist or bytes do not tell. */
  lastKeyFrameAt(): Date | null;
};

export function createKeyFrameClock(segments: Segment[]): KeyFrameClock {
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
    formatOf(segment) === 'mov' ? lastKeyFrameOfMp4(bytes, initialization) : lastKeyFrameOfTs(bytes);
  // Beyond its segment a time is none, and a time scale of nothing makes it no number.
  if (seconds === null || !(seconds <= segment.durationSeconds + 1)) return null;
  return new Date(segment.startsAt.getTime() + seconds * 1000);
}
