import type { InputMode } from '../../../core/capture.ts';
import type { Segment } from './playlist.ts';

/** Encoders with a wrong year are common; a stream may be some hours behind. */
const plausibleMs = 24 * 60 * 60_000;

/**
 * When the picture was taken. A frame is the segment's last key frame, of which only the segment's start is sure; a
 * clip's picture is its last, at the segment's end. No picture is of the future: such a clock is ahead, or in another zone.
 */
export function takenAt(newest: Segment, mode: InputMode, now: Date): Date {
  if (newest.startsAt === null) return now;
  const offsetMs = mode === 'frames' ? 0 : newest.durationSeconds * 1000;
  const taken = new Date(newest.startsAt.getTime() + offsetMs);
  const ageMs = now.getTime() - taken.getTime();
  return ageMs >= 0 && ageMs <= plausibleMs ? taken : now;
}
