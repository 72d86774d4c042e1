import { z } from 'zod';
import type { Json } from './json.ts';
import { readPath } from './reference-path.ts';
import type { WaitState } from './state-schemas.ts';

const timestampSchema = z.iso.datetime({ offset: true });

/**
 * Returns the end of a Wait state. Unlike Step Functions it keeps the milliseconds of a timestamp, which spread the checks of many streams. Throws
 * if TimestampPath finds no timestamp.
 */
export function wakeTime({ TimestampPath }: WaitState, input: Json): Date {
  const timestamp = timestampSchema.safeParse(readPath(TimestampPath, input));
  if (!timestamp.success) throw new Error(`There is no timestamp at ${TimestampPath.text}`);
  return new Date(timestamp.data);
}
