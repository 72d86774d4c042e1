import { z } from 'zod';
import { apiNames } from '../api-names.ts';

/** Reason of a failed job or model call, as callers see it. */
export const failureSchema = z.object({ code: z.string(), message: z.string(), remediation: z.string() });
apiNames.add(failureSchema, { id: 'Failure' });
export type Failure = z.infer<typeof failureSchema>;
