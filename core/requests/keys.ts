import { z } from 'zod';
import { scopeSchema } from '../records/key.ts';
import type { KeyPosition } from '../ports/key-store.ts';
import { flag, integer } from './fields.ts';
import { text } from './text.ts';

/** Requests about keys, callers and webhook secrets (design section 11). */

const callerPattern = /^[\w.@-]{1,64}$/;

/** What a caller may be called. */
export const callerName = z
  .string()
  .refine((name) => callerPattern.test(name), 'a caller has 1 to 64 letters, digits, or any of . _ @ -')
  .meta({ pattern: callerPattern.source });

const label = text(0, 200).nullable();

/** A longer list is cut to one too many before its elements are looked at: it may have a million. */
const scopes = z.preprocess(
  (value) => (Array.isArray(value) ? value.slice(0, scopeSchema.options.length + 1) : value),
  z
    .array(scopeSchema)
    .refine(
      (list) => list.length > 0 && list.length <= scopeSchema.options.length,
      `a key has one to ${scopeSchema.options.length} scopes`,
    )
    .meta({ minItems: 1, maxItems: scopeSchema.options.length }),
);

const keyPosition = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\.([0-9a-f]{64})$/;

export const keyListQuerySchema = z.object({
  caller: callerName.optional(),
  /** `next_after` of the page before. */
  after: z
    .string()
    .regex(keyPosition, 'after is the next_after of a page')
    .optional()
    .describe('The next_after of the page before'),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
export type KeyListQuery = z.infer<typeof keyListQuerySchema>;

/** Where a page begins, out of its `after`. */
export function readKeyPosition(after: string | undefined): KeyPosition | undefined {
  const [, createdAt, hash] = keyPosition.exec(after ?? '') ?? [];
  return createdAt === undefined || hash === undefined ? undefined : { created_at: createdAt, hash };
}

const descendants = flag
  .default(false)
  .describe('Whether all keys end too that this one made, and those that they made');

export const keyRevocationQuerySchema = z.object({ descendants });

export const keyRequestSchema = z.object({
  /** Left out: the caller of the key that asks. */
  caller: callerName.optional(),
  scopes: scopes.default(['jobs']),
  label: label.default(null),
});
export type KeyRequest = z.infer<typeof keyRequestSchema>;

export const keyPathSchema = z.object({ key_id: z.string().describe('The id from the list of keys') });
export const keyLabelSchema = z.object({ label });

const hour = 3_600;
const week = 7 * 24 * hour;

/** How long what is rotated stays good beside its successor; 0 ends it at once. */
export const keyRotationQuerySchema = z.object({
  grace_seconds: integer(z.int().min(0).max(week)).default(hour),
  descendants,
});
export type KeyRotation = z.infer<typeof keyRotationQuerySchema>;
export const secretRotationQuerySchema = z.object({
  grace_seconds: integer(z.int().min(0).max(week)).default(24 * hour),
});

export const callerRequestSchema = z.object({ caller: callerName, label: label.default(null) });
export type CallerRequest = z.infer<typeof callerRequestSchema>;

export const callerListQuerySchema = z.object({
  /** The name after which the page begins. */
  after: z.string().default(''),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
