import { z } from 'zod';
import { jobStatusSchema } from '../records/job.ts';
import { jobTypeSchema } from '../records/job-type.ts';
import { flag, integer, jobId } from './fields.ts';

export const jobListQuerySchema = z.object({
  status: jobStatusSchema.optional(),
  job_type: jobTypeSchema.optional(),
  label: z.string().max(40).optional().describe('Label that the jobs have'),
  limit: integer(z.int().min(1).max(100)).default(20),
  offset: integer(z.int().min(0)).default(0),
});

export const eventsQuerySchema = z.object({
  after: integer(z.int().min(0)).default(0).describe('Sequence after which the page begins'),
  limit: integer(z.int().min(1).max(1000)).default(200),
});

export const jobPathSchema = z.object({ job_id: jobId });
export const mediaPathSchema = z.object({
  job_id: jobId,
  sequence: integer(z.int().min(1)),
});

/** Query of `GET /jobs/{job_id}/media/{sequence}`. */
export const mediaQuerySchema = z.object({
  boxes: flag.default(false).describe('Draw the boxes of an alert on a copy of its evidence'),
});
