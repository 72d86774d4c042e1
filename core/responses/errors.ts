import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { errorCodes, type ErrorCode } from '../errors.ts';

export const errorCodeSchema = z.enum(errorCodes).describe('Error code; branch on it, not on the message');
apiNames.add(errorCodeSchema, { id: 'ErrorCode' });

/** Parses a stored code. Returns `INTERNAL_ERROR` if the interface does not define it. */
export function toErrorCode(text: string): ErrorCode {
  const code = errorCodeSchema.safeParse(text);
  return code.success ? code.data : 'INTERNAL_ERROR';
}

export const errorEnvelopeSchema = z.object({
  error: z.object({
    code: errorCodeSchema,
    message: z.string().describe('Description of the failure'),
    remediation: z.string().describe('Next step for the caller'),
  }),
});
apiNames.add(errorEnvelopeSchema, { id: 'ErrorEnvelope' });

/** Body of a 422 (I-2.9.1). */
export const validationErrorSchema = z.object({
  detail: z.array(
    z.object({
      loc: z
        .array(z.union([z.string(), z.int()]))
        .describe('Location: body, query, path or header, then names and indexes'),
      msg: z.string(),
      type: z.string().describe('Error type, such as missing, invalid_type or too_big'),
      input: z.unknown().optional().describe('Invalid value, shortened and without secrets'),
      ctx: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Next step as `remediation`, if there is one'),
    }),
  ),
});
apiNames.add(validationErrorSchema, { id: 'ValidationErrors' });
