import { z } from 'zod';
import { scopeSchema } from '../records/key.ts';
import { timestamp } from './fields.ts';

/** Answers about keys, callers and webhook secrets (design section 11). */

export const keySchema = z.object({
  key_id: z.string().describe('SHA-256 of the key: it names the key and opens nothing'),
  prefix: z.string().describe('How its text begins'),
  caller: z.string(),
  scopes: z.array(scopeSchema),
  label: z.string().nullable(),
  created_by: z
    .string()
    .nullable()
    .describe('The key_id of the key that made it; null where no key did, or none that is known'),
  created_at: timestamp,
  last_used_at: timestamp.nullable().describe('To the minute'),
  revoked_at: timestamp.nullable().describe('From when it is refused; null while it is good'),
});

export const keyListResponseSchema = z.object({
  keys: z.array(keySchema).describe('Oldest first'),
  next_after: z.string().nullable().describe('Send it as after for the next page; null on the last'),
});

export const revokedKeySchema = keySchema.extend({
  descendants: z
    .array(keySchema)
    .optional()
    .describe('The keys that ended with it, where descendants was asked for'),
});

export const newKeySchema = keySchema.extend({
  key: z.string().describe('The key itself, shown this once: only its hash is stored'),
});

export const rotatedKeySchema = newKeySchema.extend({
  replaces: revokedKeySchema.describe('The old key, good until revoked_at'),
});

export const callerResponseSchema = z.object({
  caller: z.string(),
  label: z.string().nullable(),
  created_at: timestamp,
});

export const callerListResponseSchema = z.object({
  callers: z.array(callerResponseSchema).describe('By name'),
  next_after: z.string().nullable().describe('Send it as after for the next page; null on the last'),
});

export const webhookSecretResponseSchema = z.object({
  secret: z.string().describe('What receivers verify signatures with, whsec_…'),
  version: z.int().positive(),
  previous_valid_until: timestamp
    .nullable()
    .describe('Until when events are signed with an earlier secret too'),
});
