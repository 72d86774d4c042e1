import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath } from './reference-path.ts';
import type { WaitState } from './state-schemas.ts';

const timestampSchema = z.iso.datetime({ offset: true });

/**
 * Returns the end of a Wait state entered at `now`. Timestamps lose their milliseconds, as in Step Functions, so that a workflow
 * that depends on them fails here too. Throws if TimestampPath finds no timestamp.
 */
export function wakeTime(state: WaitState, input: Json, now: Date): Date {
  if (state.Seconds !== undefined) return new Date(now.getTime() + state.Seconds * 1000);
  return wholeSeconds(readTimestamp(state, input));
}

function readTimestamp({ Timestamp, TimestampPath }: WaitState, input: Json): string {
  if (TimestampPath === undefined) return timestampSchema.parse(Timestamp);
  const timestamp = timestampSchema.safeParse(readPath(TimestampPath, input));
  if (timestamp.success) return timestamp.data;
  throw new Error(`There is no timestamp at ${TimestampPath.text}`);
}

function wholeSeconds(timestamp: string): Date {
  return new Date(Math.floor(Date.parse(timestamp) / 1000) * 1000);
}
