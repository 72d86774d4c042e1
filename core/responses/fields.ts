import { z } from 'zod';

/** Fields that several answers share. */

export const timestamp = z.iso.datetime().describe('ISO 8601 in UTC, with milliseconds');
export const count = z.int().nonnegative();
export const jobId = z.uuid();
export const sequence = z
  .int()
  .positive()
  .describe("Place in the job's log: from 1 on, without gaps. Use it to tell repeated deliveries apart.");
export const sourceUrl = z.string().describe('The stream URL; a password in it is masked');
export const jpegBase64 = z.string().describe('JPEG as base64, without a data: prefix');
