import { z } from 'zod';

/** Time of an event or change. */
export const timestamp = z.iso.datetime().describe('ISO 8601 in UTC, with milliseconds');
export const count = z.int().nonnegative();
export const jobId = z.uuid();
export const sequence = z
  .int()
  .positive()
  .describe("Position in the job's log; starts at 1, without gaps. Identifies repeated deliveries.");
export const sourceUrl = z.string().describe('Stream URL with masked password');
export const jpegBase64 = z.string().describe('JPEG as base64, without a data: prefix');
