import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath } from './reference-path.ts';
import type { WaitState } from './state-schemas.ts';

const timestampSchema = z.iso.datetime({ offset: true });

/**
 * Returns the end of a Wait state. Timestamps lose their milliseconds, as in Step Functions, so that a workflow that
 * depends on them fails here too. Throws if TimestampPath finds no timestamp.
 */
export function wakeTime({ TimestampPath }: WaitState, input: Json): Date {
  const timestamp = timestampSchema.safeParse(readPath(TimestampPath, input));
  if (!timestamp.success) throw new Error(`There is no timestamp at ${TimestampPath.text}`);
  return new Date(Math.floor(Date.parse(timestamp.data) / 1000) * 1000);
}
