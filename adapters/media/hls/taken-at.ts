import type { InputMode } from '../../../core/capture.ts';
import type { Segment } from './playlist.ts';

/** Encoders with a wrong year are common; a stream may be some hours behind. */
const plausibleMs = 24 * 60 * 60_000;

/**
 * When the picture was taken. A frame is the last key frame (`keyFrameAt`; where that is not known, its segment's start is what is sure),
 * a clip's picture its last, at the segment's end. No picture is of the future: such a clock is ahead, or in another zone.
 */
export function takenAt(newest: Segment, mode: InputMode, now: Date, keyFrameAt: Date | null = null): Date {
  if (newest.startsAt === null) return now;
  const end = new Date(newest.startsAt.getTime() + newest.durationSeconds * 1000);
  const taken = mode === 'frames' ? (keyFrameAt ?? newest.startsAt) : end;
  const ageMs = now.getTime() - taken.getTime();
  return ageMs >= 0 && ageMs <= plausibleMs ? taken : now;
}
