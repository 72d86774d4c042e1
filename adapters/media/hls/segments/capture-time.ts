import type { InputMode } from '../../../../core/records/capture.ts';
import type { Segment } from '../playlist/playlist.ts';

/** Maximum plausible age, in milliseconds. Encoders with a wrong year are common; a stream may be hours behind. */
const plausibleMs = 24 * 60 * 60_000;

/**
 * Returns the time of the last key frame (`frames`) or segment end (clips); `now` if in the future or a day old. If
 * `keyFrameAt` is null, a frame is dated by the start of its segment.
 */
export function captureTime(
  newest: Segment,
  mode: InputMode,
  now: Date,
  keyFrameAt: Date | null = null,
): Date {
  if (newest.startsAt === null) return now;
  const end = new Date(newest.startsAt.getTime() + newest.durationSeconds * 1000);
  const taken = mode === 'frames' ? (keyFrameAt ?? newest.startsAt) : end;
  const ageMs = now.getTime() - taken.getTime();
  return ageMs >= 0 && ageMs <= plausibleMs ? taken : now;
}
