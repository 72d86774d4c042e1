import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import type { ErrorCode } from '../errors.ts';

const codes = {
  NOT_LIVESTREAM: 'NOT_LIVESTREAM',
  INVALID_URL: 'INVALID_URL',
  STREAM_FETCH_FAILED: 'STREAM_FETCH_FAILED',
  BAD_REQUEST: 'BAD_REQUEST',
  INVALID_INPUT_MODE: 'INVALID_INPUT_MODE',
  UNAUTHORIZED: 'UNAUTHORIZED',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  JOB_NOT_FOUND: 'JOB_NOT_FOUND',
  JOB_ALREADY_STOPPED: 'JOB_ALREADY_STOPPED',
  WATCH_NOT_FOUND: 'WATCH_NOT_FOUND',
  ALERT_NOT_FOUND: 'ALERT_NOT_FOUND',
  PRECONDITION_FAILED: 'PRECONDITION_FAILED',
  MAX_WATCHES_REACHED: 'MAX_WATCHES_REACHED',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  MAX_JOBS_REACHED: 'MAX_JOBS_REACHED',
  RATE_LIMITED: 'RATE_LIMITED',
  SERVICE_OVERLOADED: 'SERVICE_OVERLOADED',
  VLM_ERROR: 'VLM_ERROR',
  INTERNAL_ERROR: 'INTERNAL_ERROR',
} as const satisfies { [Code in ErrorCode]: Code };

export const errorCodeSchema = z.enum(codes).describe('Error code; branch on it, not on the message');
apiNames.add(errorCodeSchema, { id: 'ErrorCode' });

/** Parses a stored code. Returns `INTERNAL_ERROR` if the interface does not define it. */
export function toErrorCode(text: string): ErrorCode {
  const code = errorCodeSchema.safeParse(text);
  return code.success ? code.data : 'INTERNAL_ERROR';
}

/** Error envelope. */
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
