import { toPresence, toStates, type Publication } from '../../adapters/destinations/mqtt/mqtt.ts';
import type { Publish } from '../../adapters/destinations/mqtt/publish.ts';
import { describeState } from '../../core/delivery/notification.ts';
import type { Log } from '../../core/ports/observability.ts';
import type { RunStore } from '../../core/ports/runs.ts';
import { asWatch } from '../../core/records/run.ts';
import { rules } from '../../core/rules.ts';
import type { SetTimer } from '../../core/time-limit.ts';

type Deps = {
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
export function startBrokerPresence(deps: Deps): () => Promise<void> {
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
async function announce(isOnline: boolean, { unfinishedRuns, runs, publish }: Deps): Promise<void> {
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
