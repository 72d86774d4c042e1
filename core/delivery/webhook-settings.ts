import { newCaller, previousValidUntil, rotateSecret, type SecretVersions } from '../records/caller.ts';
import type { CoreDeps } from '../dependencies.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import type { WebhookDefaultsRequest } from '../requests/deliveries.ts';

type Deps = Pick<CoreDeps, 'callers' | 'signer' | 'now'>;

/** Returns the secret that receivers verify signatures with. */
export async function readWebhookSecret(caller: string, deps: Deps) {
  return present(caller, (await readRecord(caller, deps)).webhook_secret, deps);
}

/** Rotates the secret. The new one signs immediately, the old one in addition for `graceSeconds`. */
export async function rotateWebhookSecret(caller: string, graceSeconds: number, deps: Deps) {
  await deps.callers.add(newCaller(caller, null, deps.now()));
  const rotated = await retryConflicts('The webhook secret was rotated too often concurrently', async () => {
    const { webhook_secret: before } = await readRecord(caller, deps);
    const after = rotateSecret(before, graceSeconds, deps.now());
    const result = await deps.callers.replaceSecret(caller, before.version, after);
    return result === 'replaced' ? committed(after) : conflict;
  });
  return present(caller, rotated, deps);
}

/** Returns the record of a caller. A caller without one has never rotated its secret: the first version signs. */
async function readRecord(caller: string, deps: Deps) {
  return (await deps.callers.find(caller)) ?? newCaller(caller, null, deps.now());
}

async function present(caller: string, secret: SecretVersions, deps: Deps) {
  return {
    secret: await deps.signer.secret(caller),
    version: secret.version,
    previous_valid_until: previousValidUntil(secret, deps.now()),
    fingerprint_key: await deps.signer.fingerprintKey(caller),
  };
}

/** Returns the filter of jobs whose request has none. */
export async function readWebhookDefaults(caller: string, { callers }: Deps) {
  return { webhook_events: (await callers.find(caller))?.webhook_events ?? null };
}

/** Replaces the filter. Jobs that exist keep theirs. */
export async function replaceWebhookDefaults(
  { webhook_events: events }: WebhookDefaultsRequest,
  caller: string,
  { callers, now }: Deps,
) {
  const wanted = events && [...new Set(events)];
  await callers.add(newCaller(caller, null, now()));
  await callers.setWebhookEvents(caller, wanted);
  return { webhook_events: wanted };
}
