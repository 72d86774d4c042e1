import { z } from 'zod';
import { flag, integer } from './fields.ts';
import { callerName } from './keys.ts';
import { logLevelSchema } from '../ports/observability.ts';

const day = z.iso.date();

export const usageQuerySchema = z.object({
  from: day.optional().describe('First day (UTC), YYYY-MM-DD; default: 29 days before the last one'),
  to: day.optional().describe('Last day (UTC), included; default: today'),
  caller: callerName.optional().describe('Other caller; requires the scope admin'),
  all: flag.default(false).describe('True for all callers; requires the scope admin'),
  after: callerName.optional().describe('next_after of the previous page, with all'),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
export type UsageQuery = z.infer<typeof usageQuerySchema>;

export const logQuerySchema = z.object({
  level: logLevelSchema.optional().describe('Only entries of this level'),
  limit: integer(z.int().min(1).max(500)).default(100),
});
export type LogQuery = z.infer<typeof logQuerySchema>;
