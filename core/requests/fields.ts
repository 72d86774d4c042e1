import { z } from 'zod';
import { webhookEventTypeSchema } from '../records/delivery.ts';

const maxWebhookEvents = webhookEventTypeSchema.options.length;

/**
 * Fields of requests. All follow one rule of coercion: integers accept integral numbers and
 * decimal strings, booleans accept true, false and their names, strings accept only strings. Unknown fields are
 * ignored.
 */

const decimal = /^\s*[+-]?\d+(\.0*)?\s*$/;

/** Returns the schema of an integer that is also accepted as decimal string. */
export function integer(schema: z.ZodInt) {
  return z.preprocess(
    (value) => (typeof value === 'string' && decimal.test(value) ? clamped(Number(value)) : value),
    schema,
  );
}

/** Limits the value to finite numbers, so that endless digits fail as too large, not as infinite. */
function clamped(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE));
}

/** Boolean, also accepted as `true` or `false` in any case. */
export const flag = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const name = value.toLowerCase();
  return name === 'true' ? true : name === 'false' ? false : value;
}, z.boolean());

/** UUID, also without hyphens and in capitals; normalized to the stored form. */
export const jobId = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase().replace(bareUuid, '$1-$2-$3-$4-$5') : value),
  z.guid('Invalid UUID'),
);

const bareUuid = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

export const streamUrl = text(1, 500).describe(
  'URL of a live stream: RTSP, an HLS playlist, or a live page on YouTube or Twitch',
);
export const condition = text(1, 1000).describe('Sentence that is true or false of the stream');
export const question = text(1, 1000).describe('Question about the image, in plain words');
export const webhookUrl = text(1, 2083).describe('URL that receives events by HTTP POST');
export const webhookEvents = z
  .preprocess(
    // Cuts the list before its elements are validated, because it may have thousands.
    (value) => (Array.isArray(value) ? value.slice(0, maxWebhookEvents + 1) : value),
    z.array(webhookEventTypeSchema).min(1).max(maxWebhookEvents),
  )
  .describe('Types of events that the webhook receives');
export const jobWebhookEvents = webhookEvents
  .nullish()
  .describe('Types of events that webhook_url receives; default: those of PUT /webhook-defaults, else all');
const maxLabels = 8;
/** Labels of a job. Cuts the list before its elements are validated, because it may have thousands. */
export const labels = z
  .preprocess(
    (value) => (Array.isArray(value) ? value.slice(0, maxLabels + 1) : value),
    z
      .array(text(1, 40))
      .refine((list) => list.length <= maxLabels, `a job has at most ${maxLabels} labels`)
      .meta({ maxItems: maxLabels }),
  )
  .default([])
  .describe('Up to 8 short texts that events repeat and the list of jobs filters by');
/** JPEG as raw base64. The maximum body size limits it. */
export const frameBase64 = text(1).describe('JPEG as raw base64, without a data: prefix');
export const idempotencyKey = text(1, 255);

/**
 * Returns the schema of a string with a length in Unicode code points. (JavaScript counts an emoji as two.) Rejects
 * an unpaired surrogate, because other programs cannot decode it.
 */
export function text(minimum: number, maximum = Infinity) {
  return z
    .string()
    .check((ctx) => {
      const { value, issues } = ctx;
      if (!value.isWellFormed()) {
        issues.push({ code: 'custom', message: 'Not Unicode', input: value });
      } else if (value.length < minimum) {
        issues.push({ code: 'too_small', origin: 'string', minimum, inclusive: true, input: value });
      } else if (isLonger(value, maximum)) {
        issues.push({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: value });
      }
    })
    .meta({ minLength: minimum, ...(maximum === Infinity ? {} : { maxLength: maximum }) });
}

/** Counts code points only if the UTF-16 length does not decide. For the minima 0 and 1 it always decides. */
function isLonger(value: string, maximum: number): boolean {
  if (value.length <= maximum) return false;
  return value.length > 2 * maximum || Array.from(value).length > maximum;
}
