import type { CoreDeps } from '../dependencies.ts';
import { newCaller } from '../records/caller.ts';
import type { WebhookDefaultsRequest } from '../requests/deliveries.ts';

type Deps = Pick<CoreDeps, 'callers' | 'now'>;

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
