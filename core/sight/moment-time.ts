import { earlier } from '../time.ts';

/** Returns the time of an earlier moment of a capture on the clock of this service. `at` is that of its newest frame. */
export function momentTime(time: string, { captured_at }: { captured_at: string }, at: Date): Date {
  const before = new Date(at.getTime() - (Date.parse(captured_at) - Date.parse(time)));
  return earlier(before, at);
}
