import { z } from 'zod';
import { webhookEventsSchema } from './delivery.ts';
import { addSeconds } from '../time.ts';

const timestampSchema = z.iso.datetime();

/** Versions of a webhook secret. The secrets are derived from a master secret and never stored. */
const secretVersionsSchema = z.object({
  /** Current version: its signature is the first in the header. */
  version: z.int().positive(),
  /** Earlier versions that also sign until `valid_until`, newest first, at most `previousKept`. */
  previous: z.array(z.object({ version: z.int().positive(), valid_until: timestampSchema })),
});
export type SecretVersions = z.infer<typeof secretVersionsSchema>;

/** Tenant that owns keys, jobs and a webhook secret. */
export const callerSchema = z.object({
  caller: z.string(),
  label: z.string().nullable(),
  created_at: timestampSchema,
  webhook_secret: secretVersionsSchema,
  /** Filter of jobs that state none. */
  webhook_events: webhookEventsSchema,
});
export type Caller = z.infer<typeof callerSchema>;

/**
 * Maximum earlier versions: a rotation whose response was lost is repeated, and the receiver still has the version
 * before.
 */
const previousKept = 2;

/** Creates a caller whose webhook secret has version 1. */
export function newCaller(caller: string, label: string | null, now: Date): Caller {
  return {
    caller,
    label,
    created_at: now.toISOString(),
    webhook_secret: { version: 1, previous: [] },
    webhook_events: null,
  };
}

/** Returns the versions that sign now, newest first. A caller without a record has never rotated: version 1. */
export function validVersions(caller: Caller | undefined, now: Date): number[] {
  if (!caller) return [1];
  const { version, previous } = caller.webhook_secret;
  return [version, ...stillValid(previous, now).map((earlier) => earlier.version)];
}

/** Returns the time when the last earlier version expires; `null` if only the current one is valid. */
export function previousValidUntil({ previous }: SecretVersions, now: Date): string | null {
  return (
    stillValid(previous, now)
      .map((earlier) => earlier.valid_until)
      .toSorted()
      .at(-1) ?? null
  );
}

/** Returns the next version. The current one signs for `graceSeconds` more; 0 ends all earlier versions immediately. */
export function rotateSecret(secret: SecretVersions, graceSeconds: number, now: Date): SecretVersions {
  const ending = {
    version: secret.version,
    valid_until: addSeconds(now, graceSeconds).toISOString(),
  };
  const previous = graceSeconds === 0 ? [] : [ending, ...stillValid(secret.previous, now)];
  return { version: secret.version + 1, previous: previous.slice(0, previousKept) };
}

function stillValid(previous: SecretVersions['previous'], now: Date): SecretVersions['previous'] {
  return previous.filter((earlier) => new Date(earlier.valid_until) > now);
}

const amount = z.int().nonnegative();

/** Model calls of a caller, their tokens and their price in millionths of a US dollar. */
export const callerUseSchema = z.object({
  model_calls: amount,
  /** Calls without a usable result. */
  model_errors: amount,
  input_tokens: amount,
  output_tokens: amount,
  micro_usd: amount,
  /** Calls of a model whose price is unknown; `micro_usd` lacks them. */
  unpriced_calls: amount,
});
export type CallerUse = z.infer<typeof callerUseSchema>;

export const amountsOfUse = callerUseSchema.keyof().options;

export const noUse: CallerUse = {
  model_calls: 0,
  model_errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  micro_usd: 0,
  unpriced_calls: 0,
};

/** Returns the sum of two uses. */
export function addUse(one: CallerUse, other: CallerUse): CallerUse {
  const sum = { ...one };
  for (const name of amountsOfUse) sum[name] += other[name];
  return sum;
}
