import { z } from 'zod';
import { apiNames } from '../api-names.ts';

/** Maximum length of each text of a failure in the state of a run: those of the service are shorter. */
export const maxFailureLength = 400;

/** Reason of a failed job or model call, as callers see it. */
export const failureSchema = z.object({ code: z.string(), message: z.string(), remediation: z.string() });
apiNames.add(failureSchema, { id: 'Failure' });
export type Failure = z.infer<typeof failureSchema>;
