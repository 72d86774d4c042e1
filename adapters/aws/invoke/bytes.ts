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

/** Encodes bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
