import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { scopeSchema } from '../records/key.ts';
import type { KeyPosition } from '../ports/callers.ts';
import { flag, integer, text } from './fields.ts';

const callerPattern = /^[\w.@-]{1,64}$/;

export const callerName = z
  .string()
  .refine((name) => callerPattern.test(name), 'a caller has 1 to 64 letters, digits, or any of . _ @ -')
  .meta({ pattern: callerPattern.source });

export const callerPathSchema = z.object({ caller: callerName });

const label = text(0, 200).nullable();

/** Scopes of a key. Cuts the list to one too many before validating its elements, because it may have a million. */
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
  after: z
    .string()
    .regex(keyPosition, 'after must be the next_after of a page')
    .optional()
    .describe('next_after of the previous page'),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
export type KeyListQuery = z.infer<typeof keyListQuerySchema>;

/** Parses the `after` of a page. Returns undefined if it is absent or malformed. */
export function readKeyPosition(after: string | undefined): KeyPosition | undefined {
  const [, createdAt, hash] = keyPosition.exec(after ?? '') ?? [];
  return createdAt === undefined || hash === undefined ? undefined : { created_at: createdAt, hash };
}

const descendants = flag
  .default(false)
  .describe('True to include all descendants: keys that this key created, and keys that those created');

export const keyRevocationQuerySchema = z.object({ descendants });

export const keyRequestSchema = z.object({
  /** Absent: the caller of the key in use. */
  caller: callerName.optional(),
  scopes: scopes.default(['jobs']),
  label: label.default(null),
});
apiNames.add(keyRequestSchema, { id: 'KeyRequest' });
export type KeyRequest = z.infer<typeof keyRequestSchema>;

export const keyPathSchema = z.object({ key_id: z.string().describe('key_id from the list of keys') });
export const keyLabelSchema = z.object({ label });
apiNames.add(keyLabelSchema, { id: 'KeyLabel' });

const hour = 3_600;
const week = 7 * 24 * hour;

/** Grace period of the old key or secret after a rotation; 0 revokes it immediately. */
export const keyRotationQuerySchema = z.object({
  grace_seconds: integer(z.int().min(0).max(week)).default(hour),
  descendants,
});
export type KeyRotation = z.infer<typeof keyRotationQuerySchema>;
export const secretRotationQuerySchema = z.object({
  grace_seconds: integer(z.int().min(0).max(week)).default(24 * hour),
});

export const callerRequestSchema = z.object({ caller: callerName, label: label.default(null) });
apiNames.add(callerRequestSchema, { id: 'CallerRequest' });
export type CallerRequest = z.infer<typeof callerRequestSchema>;

export const callerListQuerySchema = z.object({
  /** Name after which the page begins. */
  after: z.string().default(''),
  limit: integer(z.int().min(1).max(1000)).default(100),
});
