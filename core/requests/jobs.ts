import { z } from 'zod';
import { jobStatusSchema, jobTypeSchema } from '../records/job.ts';
import { integer, jobId } from './fields.ts';

/** Queries and paths below `/jobs` (interface sections 4.6 to 4.8, design section 9). */

export const jobListQuerySchema = z.object({
  status: jobStatusSchema.optional(),
  job_type: jobTypeSchema.optional(),
  limit: integer(z.int().min(1).max(100)).default(20),
  offset: integer(z.int().min(0)).default(0),
});

export const eventsQuerySchema = z.object({
  after: integer(z.int().min(0)).default(0).describe('The sequence after which to read on'),
  limit: integer(z.int().min(1).max(1000)).default(200),
});

export const jobPathSchema = z.object({ job_id: jobId });
export const mediaPathSchema = z.object({ job_id: jobId, sequence: integer(z.int().min(1)) });
