import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { scopeSchema } from '../records/key.ts';
import { count, timestamp } from './fields.ts';

/** API key without its text. */
export const keySchema = z.object({
  key_id: z.string().describe('SHA-256 of the key; identifies the key and grants no access'),
  prefix: z.string().describe('First characters of the key'),
  caller: z.string(),
  scopes: z.array(scopeSchema),
  label: z.string().nullable(),
  created_by: z
    .string()
    .nullable()
    .describe('key_id of the key that created it; null if no key did, or if unknown'),
  created_at: timestamp,
  last_used_at: timestamp.nullable().describe('Accurate to one minute'),
  revoked_at: timestamp.nullable().describe('Time from which the key is rejected; null for a valid key'),
});
apiNames.add(keySchema, { id: 'Key' });

export const keyListResponseSchema = z.object({
  keys: z.array(keySchema).describe('Oldest first'),
  next_after: z.string().nullable().describe('Value of after for the next page; null on the last page'),
});
apiNames.add(keyListResponseSchema, { id: 'KeyList' });

export const revokedKeySchema = keySchema.and(
  z.object({
    descendants: z
      .array(keySchema)
      .optional()
      .describe('Descendants revoked with the key; absent unless requested'),
  }),
);
apiNames.add(revokedKeySchema, { id: 'RevokedKey' });

export const newKeySchema = keySchema.and(
  z.object({
    key: z.string().describe('Text of the key, returned only once: only its hash is stored'),
  }),
);
apiNames.add(newKeySchema, { id: 'NewKey' });

export const signInCodeSchema = z.object({
  code: z
    .string()
    .describe('Signs one browser in with the key; the console takes it at /console#/sign-in/CODE'),
  expires_at: timestamp,
});
apiNames.add(signInCodeSchema, { id: 'SignInCode' });

export const rotatedKeySchema = newKeySchema.and(
  z.object({
    replaces: revokedKeySchema.describe('Old key, valid until revoked_at'),
  }),
);
apiNames.add(rotatedKeySchema, { id: 'RotatedKey' });

export const callerResponseSchema = z.object({
  caller: z.string(),
  label: z.string().nullable(),
  created_at: timestamp,
});
apiNames.add(callerResponseSchema, { id: 'Caller' });

export const callerListResponseSchema = z.object({
  callers: z.array(callerResponseSchema).describe('Ordered by name'),
  next_after: z.string().nullable().describe('Value of after for the next page; null on the last page'),
});
apiNames.add(callerListResponseSchema, { id: 'CallerList' });

export const webhookSecretResponseSchema = z.object({
  secret: z.string().describe('Signing secret for receivers, whsec_…'),
  version: z.int().positive(),
  previous_valid_until: timestamp
    .nullable()
    .describe('Time until which events are also signed with an earlier secret; null without one'),
  fingerprint_key: z
    .string()
    .describe(
      'Key of the fingerprints of addresses: the first 16 digits of the SHA-256 of key, newline and address. A rotation keeps it',
    ),
});
apiNames.add(webhookSecretResponseSchema, { id: 'WebhookSecret' });

/** Response of `DELETE /callers/{caller}`. */
export const erasureResponseSchema = z.object({
  caller: z.string(),
  complete: z.boolean().describe('False if the time was not enough: repeat the call'),
  keys: count.describe('Removed by this call, as the other numbers'),
  jobs: count,
  watches: count,
  media: count.describe('Frames, clips and other media'),
});
apiNames.add(erasureResponseSchema, { id: 'Erasure' });
