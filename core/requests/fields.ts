import { z } from 'zod';
import { text } from './text.ts';

/**
 * The fields that callers send (interface section 4). The one rule of coercion (design section 10): integers take integral numbers
 * and decimal strings, booleans take true, false and their names, strings take strings only. Unknown fields are ignored.
 */

const decimal = /^\s*[+-]?\d+(\.0*)?\s*$/;

export function integer(schema: z.ZodInt) {
  return z.preprocess(
    (value) => (typeof value === 'string' && decimal.test(value) ? clamped(Number(value)) : value),
    schema,
  );
}

/** Digits without end are a number that is too large, not an infinite one. */
function clamped(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE));
}

export const flag = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const name = value.toLowerCase();
  return name === 'true' ? true : name === 'false' ? false : value;
}, z.boolean());

/** In any notation that Pydantic reads but braces and URNs; as it is stored from then on. */
export const jobId = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase().replace(bareUuid, '$1-$2-$3-$4-$5') : value),
  z.guid(),
);

const bareUuid = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export const streamUrl = text(1, 500).describe(
  'A live stream: an RTSP URL, an HLS playlist, or the page of a live broadcast',
);
export const condition = text(1, 1000).describe('What to look for, in plain words; it holds or it does not');
export const question = text(1, 1000).describe('What to tell about the picture, in plain words');
export const webhookUrl = text(1, 2083).describe('Where events are sent by HTTP POST');
/** A JPEG as raw base64. The size of the body bounds it. */
export const frameBase64 = text(1).describe('A JPEG as raw base64, without a data: prefix');
export const idempotencyKey = text(1, 255);
