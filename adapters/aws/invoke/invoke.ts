import { z } from 'zod';

/** Bytes, as base64 in JSON. */
export const bytesSchema = z.codec(
  z.string(),
  z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  {
    decode: (text): Uint8Array => Buffer.from(text, 'base64'),
    encode: base64,
  },
);

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/**
 * Invokes a function and returns its JSON result. Throws `TransientError` for AWS errors, and `InvocationError`.
 */
export type Invoke = (payload: object, signal: AbortSignal) => Promise<unknown>;

/**
 * Invokes a function asynchronously: Lambda queues the event, and repeats it twice if it fails. Throws
 * `TransientError`.
 */
export type InvokeLater = (functionArn: string, payload: object) => Promise<void>;

/** Error for a function that failed with an unexpected error. Its own log contains the cause. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
}

/** Maximum payload in bytes, below Lambda's limit of 6,291,556 bytes for synchronous invocations. */
export const maxInvokePayloadBytes = 6_000_000;
