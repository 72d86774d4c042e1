import { newCaller, previousValidUntil, rotateSecret } from '../caller.ts';
import type { SecretVersions } from '../caller.ts';
import type { Collaborators } from '../collaborators.ts';
import { TransientError } from '../errors.ts';

type Needs = Pick<Collaborators, 'callers' | 'signer' | 'now'>;

const tries = 5;

/** What a receiver verifies with. */
export async function readWebhookSecret(caller: string, c: Needs) {
  return present(caller, (await recordOf(caller, c)).webhook_secret, c);
}

/** The next secret signs at once, beside the old one for `graceSeconds`. */
export async function rotateWebhookSecret(caller: string, graceSeconds: number, c: Needs) {
  await c.callers.add(newCaller(caller, null, c.now()));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const { webhook_secret: before } = await recordOf(caller, c);
    const after = rotateSecret(before, graceSeconds, c.now());
    if ((await c.callers.replaceSecret(caller, before.version, after)) === 'replaced') {
      return present(caller, after, c);
    }
  }
  throw new TransientError('The webhook secret was rotated too often at once');
}

/** A caller without a record has never rotated: its first version signs. */
async function recordOf(caller: string, c: Needs) {
  return (await c.callers.find(caller)) ?? newCaller(caller, null, c.now());
}

async function present(caller: string, secret: SecretVersions, c: Needs) {
  return {
    secret: await c.signer.secret(caller),
    version: secret.version,
    previous_valid_until: previousValidUntil(secret, c.now()),
  };
}
