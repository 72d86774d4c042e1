import {
  createDestinations,
  type DestinationSenderDeps,
} from '../../adapters/destinations/destination-sender.ts';
import { loadOnce } from '../../adapters/load-once.ts';
import type { Destinations } from '../../core/ports/delivery.ts';
import type { Settings } from '../settings.ts';
import { toPresence, toStates, type Publication } from '../../adapters/destinations/mqtt/mqtt.ts';
import { describeState } from '../../core/delivery/notification.ts';
import type { Log } from '../../core/ports/observability.ts';
import type { RunStore } from '../../core/ports/runs.ts';
import { asWatch } from '../../core/records/run.ts';
import { rules } from '../../core/rules.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import { createPublisher, type Publish } from '../../adapters/destinations/mqtt/publish.ts';
import { createHttpSender } from '../../adapters/destinations/http-sender.ts';
import { createWebhookGuard, type EgressGuardOptions } from '../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../adapters/egress/guarded-http.ts';
import { containDestinations } from '../../adapters/embedded/load/contain-exceptions.ts';
import { createLinkSigner, createWebhookSigner } from '../../adapters/signers.ts';
import { validVersions } from '../../core/records/caller.ts';
import { version } from '../version.ts';
import type { ServiceStores } from './open-stores.ts';

const elapsedMs = () => performance.now();

/** Creates what sends to receivers and destinations. */
export function createSenders(
  settings: Settings,
  { masterSecret, ports: { callers } }: ServiceStores,
  baseUrl: string,
  { log, now, egress }: { log: Log; now: () => Date; egress: Pick<EgressGuardOptions, 'own' | 'lookup'> },
) {
  const webhookUrls = createWebhookGuard(settings.allowWebhookRanges, undefined, egress);
  const http = createGuardedHttp(webhookUrls);
  const signer = createWebhookSigner({
    masterSecret,
    versions: async (caller) => validVersions(await callers.find(caller), now()),
  });
  const publishing = { guard: webhookUrls, elapsedMs };
  const destinations = createFormats(settings, {
    http: createHttpSender({ http, version, elapsedMs }),
    signer,
    now,
    publish: createPublisher(publishing),
  });
  return {
    webhookUrls,
    signer,
    destinations: containDestinations(destinations, log),
    evidenceLinks: {
      signer: createLinkSigner(async () => masterSecret),
      origin: baseUrl.replace(/\/api$/, ''),
      isPublic: settings.publicUrl !== '',
    },
    // Brokers that do not answer delay the end of the service by this time.
    publishPresence: createPublisher({ ...publishing, timeoutSeconds: 3 }),
    closeWebhooks: () => http.close(),
  };
}

type DestinationDeps = Pick<DestinationSenderDeps, 'http' | 'signer' | 'now'> & { publish: Publish };

/**
 * Creates the destinations of watches of one machine: all formats, e-mail with an SMTP server, MQTT in the ranges of
 * webhooks.
 */
function createFormats(
  { smtpUrl, emailFrom, emailRecipients }: Settings,
  deps: DestinationDeps,
): Destinations {
  // Its library is loaded by the first e-mail.
  const loadSender = loadOnce(async () => {
    const { createSmtpSender } = await import('../../adapters/destinations/email/smtp.ts');
    return createSmtpSender({ url: smtpUrl, from: emailFrom, elapsedMs });
  });
  return createDestinations({
    ...deps,
    ...(smtpUrl !== '' && {
      mail: {
        send: async (mail) => (await loadSender())(mail),
        recipients: emailRecipients,
      },
    }),
  });
}

type PresenceDeps = {
  /** Returns the active jobs and watches. */
  unfinishedRuns: () => { run_id: string }[];
  runs: Pick<RunStore, 'getIncludingEnded' | 'secrets'>;
  publish: Publish;
  setTimer: SetTimer;
  log: Pick<Log, 'warning'>;
};

/**
 * Repeats the states of all active watches at their brokers, and reports the end of the service: Home Assistant shows
 * an entity as unavailable if neither arrives. A last will would need a connection that stays.
 */
export function startBrokerPresence(deps: PresenceDeps): () => Promise<void> {
  let stop: (() => void) | undefined;
  async function refresh(): Promise<void> {
    stop = deps.setTimer(() => void (refreshed = refresh()), rules.brokerRefreshSeconds * 1000);
    await announce(true, deps).catch(report);
  }
  const report = (error: unknown) =>
    deps.log.warning('States of watches were not repeated at their brokers', { error: String(error) });
  let refreshed = refresh();
  return async () => {
    stop?.();
    await refreshed;
    await announce(false, deps).catch(report);
  };
}

/**
 * Sends one series of messages to each broker. Failures are left to the next series: events are delivered by the queue.
 */
async function announce(isOnline: boolean, { unfinishedRuns, runs, publish }: PresenceDeps): Promise<void> {
  const byUrl = new Map<string, Publication[]>();
  for (const { run_id: id } of unfinishedRuns()) {
    const watch = asWatch(await runs.getIncludingEnded(id));
    if (!watch?.config.destinations.some(({ type }) => type === 'mqtt')) continue;
    const current = describeState(watch);
    if (current === null) continue;
    const states = isOnline ? toStates(id, watch.config.conditions, current) : [];
    const publications = [...states, toPresence(id, isOnline)];
    for (const { type, url } of (await runs.secrets(id))?.destinations ?? [])
      if (type === 'mqtt' && url !== undefined) byUrl.set(url, [...(byUrl.get(url) ?? []), ...publications]);
  }
  await Promise.all([...byUrl].map(async ([url, publications]) => publish(url, publications)));
}
