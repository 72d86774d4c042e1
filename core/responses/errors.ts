import { z } from 'zod';
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
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  MAX_JOBS_REACHED: 'MAX_JOBS_REACHED',
  RATE_LIMITED: 'RATE_LIMITED',
  VLM_ERROR: 'VLM_ERROR',
  INTERNAL_ERROR: 'INTERNAL_ERROR',
} as const satisfies { [Code in ErrorCode]: Code };

export const errorCodeSchema = z.enum(codes).describe('Branch on this, not on the message');

/** Returns a stored code as one of the interface's codes; `INTERNAL_ERROR` if it is unknown. */
export function toErrorCode(text: string): ErrorCode {
  const code = errorCodeSchema.safeParse(text);
  return code.success ? code.data : 'INTERNAL_ERROR';
}

/** Interface section 2.8. */
export const errorEnvelopeSchema = z.object({
  error: z.object({
    code: errorCodeSchema,
    message: z.string().describe('What happened'),
    remediation: z.string().describe('What to do about it'),
  }),
});

/** Interface section 2.9, as FastAPI with Pydantic 2 writes it. */
export const validationErrorSchema = z.object({
  detail: z.array(
    z.object({
      loc: z
        .array(z.union([z.string(), z.int()]))
        .describe('Where: body, query, path or header, then names and indexes'),
      msg: z.string(),
      type: z.string().describe('Kind of mistake, such as missing, int_parsing or string_too_long'),
      input: z.unknown().optional().describe('What was sent, shortened and without secrets'),
      ctx: z.record(z.string(), z.unknown()).optional().describe('The limit that was passed, by its name'),
    }),
  ),
});
