import { z } from 'zod';

/**
 * The fields that callers send (interface section 4). The one rule of coercion (design section 10): integers take integral numbers
 * and decimal strings, booleans take true, false and their names, strings take strings only. Unknown fields are ignored.
 */

const decimal = /^[+-]?\d{1,15}$/;

export function integer(schema: z.ZodInt) {
  return z.preprocess(
    (value) => (typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value),
    schema,
  );
}

export const flag = z.preprocess((value) => {
  if (typeof value !== 'string') return value;
  const name = value.toLowerCase();
  return name === 'true' ? true : name === 'false' ? false : value;
}, z.boolean());

export const streamUrl = z.string().min(1).max(500);
export const condition = z.string().min(1).max(1000);
export const webhookUrl = z.string().min(1).max(2083);
