import { z } from 'zod';

/** Time of an event or change. */
export const timestamp = z.iso.datetime().describe('UTC, with milliseconds');
export const count = z.int().nonnegative();
export const jobId = z.uuid();
export const sequence = z
  .int()
  .positive()
  .describe('Position in the log, from 1 without gaps; a repetition has the same');
export const sourceUrl = z.string().describe('Stream URL with masked password');
export const jpegBase64 = z.string().describe('JPEG as base64, without a data: prefix');
export const frameUrl = z
  .string()
  .describe('URL of the image; requires the API key, available until the job is deleted');

const labels = z.array(z.string()).optional().describe('Labels of the job; absent without any');

/** Returns the schema of an event of a job. */
export function envelope<Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) {
  return z.object({
    type: z.literal(type),
    timestamp,
    source_url: sourceUrl,
    data: z.object({ job_id: jobId, sequence, labels, ...data }),
  });
}

/** Time and stream of an event, and its position in the log of a job. */
export type EventPlace = {
  timestamp: string;
  source_url: string;
  position: { job_id: string; sequence: number; labels?: string[] };
};

export function placeEvent<Type extends string, Data extends object>(
  type: Type,
  { position, ...rest }: EventPlace,
  data: Data,
) {
  return { type, ...rest, data: { ...position, ...data } };
}
