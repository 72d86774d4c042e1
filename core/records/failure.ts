import { z } from 'zod';

/** Reason of a failed job or model call, as callers see it. */
export const failureSchema = z.object({ code: z.string(), message: z.string(), remediation: z.string() });
export type Failure = z.infer<typeof failureSchema>;
