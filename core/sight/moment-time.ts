import { addSeconds, earlier } from '../time.ts';

/** Maximum age of a frame at its capture, in seconds. An older one is of a stream with another clock. */
const maxAgeSeconds = 60;

/**
 * Returns the time of the newest frame of a capture: that of the stream, if it can be of the clock of this service. `at` is the begin of the capture.
 */
export function frameTime({ captured_at }: { captured_at: string }, at: Date): Date {
  const own = new Date(captured_at);
  return own >= addSeconds(at, -maxAgeSeconds) ? earlier(own, at) : at;
}

/** Returns the time of an earlier moment of a capture. `at` is that of its newest frame. */
export function momentTime(time: string, { captured_at }: { captured_at: string }, at: Date): Date {
  const before = new Date(at.getTime() - (Date.parse(captured_at) - Date.parse(time)));
  return earlier(before, at);
}
