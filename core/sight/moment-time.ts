import { addSeconds, earlier, later } from '../time.ts';
import type { Captured } from './screening.ts';

/** Maximum age of a frame at its capture, in seconds. An older one is of a stream with another clock. */
const maxAgeSeconds = 60;

/**
 * Returns the time of the newest frame of a capture: that of the stream, if it can be of the clock of this service.
 * `beganAt` is the begin of the capture, while which the frame may have arrived. Frames of several captures keep
 * their distances only by their own times.
 */
export function frameTime({ captured_at, seen }: ShownFrame, beganAt: Date, now: Date): Date {
  const shownAt = new Date(captured_at);
  const ownTime = addSeconds(shownAt, secondsBehind(shownAt, beganAt));
  const end = later(beganAt, earlier(new Date(seen.seen_at), now));
  return earlier(ownTime, end);
}

/** Returns how far the clock of a stream is behind that of this service: 0 if its frame can be of the same. */
export function secondsBehind(capturedAt: Date, begin: Date): number {
  return capturedAt >= addSeconds(begin, -maxAgeSeconds)
    ? 0
    : (begin.getTime() - capturedAt.getTime()) / 1000;
}

type ShownFrame = Pick<Captured, 'captured_at' | 'seen'>;

/** Returns the time of an earlier moment of a capture. `newestAt` is that of its newest frame. */
export function momentTime(time: string, { captured_at }: { captured_at: string }, newestAt: Date): Date {
  const before = new Date(newestAt.getTime() - (Date.parse(captured_at) - Date.parse(time)));
  return earlier(before, newestAt);
}
