import { z } from 'zod';

/** Bytes in JSON, as base64. */
export const bytesSchema = z.string().transform((text): Uint8Array => Buffer.from(text, 'base64'));

/** Encodes bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
