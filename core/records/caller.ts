import { z } from 'zod';
import { addSeconds } from '../schedule.ts';

/** A caller (glossary): the tenant that keys, jobs and a webhook secret belong to. */

const timestampSchema = z.iso.datetime();

/** Which versions of a webhook secret are valid; the secrets themselves are derived and never stored. */
const secretVersionsSchema = z.object({
  /** The one that signs first. */
  version: z.int().positive(),
  /** Earlier ones that sign too for a while, newest first. */
  previous: z.array(z.object({ version: z.int().positive(), valid_until: timestampSchema })),
});
export type SecretVersions = z.infer<typeof secretVersionsSchema>;

export const callerSchema = z.object({
  caller: z.string(),
  label: z.string().nullable(),
  created_at: timestampSchema,
  webhook_secret: secretVersionsSchema,
});
export type Caller = z.infer<typeof callerSchema>;

/** A receiver may have missed one rotation whose answer was lost: two earlier secrets stay good, and a header stays short. */
const previousKept = 2;

export function newCaller(caller: string, label: string | null, now: Date): Caller {
  return { caller, label, created_at: now.toISOString(), webhook_secret: { version: 1, previous: [] } };
}

/** The versions that sign now, newest first. A caller without a record has never rotated. */
export function validVersions(caller: Caller | undefined, now: Date): number[] {
  if (!caller) return [1];
  const { version, previous } = caller.webhook_secret;
  return [version, ...stillValid(previous, now).map((earlier) => earlier.version)];
}

/** When the last of the earlier secrets ends; null where only the newest is valid. */
export function previousValidUntil({ previous }: SecretVersions, now: Date): string | null {
  return (
    stillValid(previous, now)
      .map((earlier) => earlier.valid_until)
      .toSorted()
      .at(-1) ?? null
  );
}

/** The next version signs from now on, and today's for `graceSeconds` more; 0 ends every earlier one at once. */
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
