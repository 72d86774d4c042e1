import { z } from 'zod';
import { logLevelSchema } from '../ports/log.ts';
import { integer } from './fields.ts';

/** Query of `GET /logs`. */
export const logQuerySchema = z.object({
  level: logLevelSchema.optional().describe('Only entries of this level'),
  limit: integer(z.int().min(1).max(500)).default(100),
});
export type LogQuery = z.infer<typeof logQuerySchema>;
