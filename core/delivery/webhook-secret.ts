import { newCaller, previousValidUntil, rotateSecret } from '../records/caller.ts';
import type { SecretVersions } from '../records/caller.ts';
import type { CoreDeps } from '../dependencies.ts';
import { TransientError } from '../errors.ts';

type Deps = Pick<CoreDeps, 'callers' | 'signer' | 'now'>;

const tries = 5;

/** What a receiver verifies with. */
export async function readWebhookSecret(caller: string, deps: Deps) {
  return present(caller, (await readRecord(caller, deps)).webhook_secret, deps);
}

/** The next secret signs at once, beside the old one for `graceSeconds`. */
export async function rotateWebhookSecret(caller: string, graceSeconds: number, deps: Deps) {
  await deps.callers.add(newCaller(caller, null, deps.now()));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const { webhook_secret: before } = await readRecord(caller, deps);
    const after = rotateSecret(before, graceSeconds, deps.now());
    if ((await deps.callers.replaceSecret(caller, before.version, after)) === 'replaced') {
      return present(caller, after, deps);
    }
  }
  throw new TransientError('The webhook secret was rotated too often at once');
}

/** A caller without a record has never rotated: its first version signs. */
async function readRecord(caller: string, deps: Deps) {
  return (await deps.callers.find(caller)) ?? newCaller(caller, null, deps.now());
}

async function present(caller: string, secret: SecretVersions, deps: Deps) {
  return {
    secret: await deps.signer.secret(caller),
    version: secret.version,
    previous_valid_until: previousValidUntil(secret, deps.now()),
  };
}
