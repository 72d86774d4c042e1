import { findSubject, isEnding, isWanted } from '../delivery/receivers.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { Destination, DestinationAddress, FormerDestination } from '../records/watch.ts';
import { toWatchEvents } from '../records/watch-event.ts';
import type { NewWatchEvent, WatchEvent } from '../records/watch-event.ts';
import { isWatchEvent } from '../records/run.ts';
import type { RunEvent } from '../records/run.ts';
import type { WatchRun } from '../records/watch-run.ts';
import type { FormerAddress } from '../records/watch-secrets.ts';
import { closeAlert } from '../policies/watch/alerts.ts';
import { endedLoss } from '../policies/watch/change.ts';
import { isOpen } from '../policies/watch/condition.ts';
import { rules } from '../rules.ts';
import { isOver } from '../time.ts';

/** Former destinations with their addresses, as the records of a watch store them. */
export type Former = { destinations: FormerDestination[]; addresses: FormerAddress[] };

/** Returns true if the address of a former destination is erased without a delivery. */
export function isFormerOver({ removed_at: at }: Pick<FormerDestination, 'removed_at'>, now: Date): boolean {
  return isOver(at, rules.formerDestinationSeconds, now);
}

/** Reads a page of the log after a sequence. */
type ReadLog = (after: number) => Promise<RunEvent[]>;

type Change = {
  stored: WatchRun;
  /** Addresses before and after the change. */
  before: readonly DestinationAddress[];
  after: readonly DestinationAddress[];
  /** Destinations after the change. */
  destinations: readonly Destination[];
  states: readonly DestinationState[];
  /** Position of the event that reports the change. */
  sequence: number;
  now: Date;
};

/**
 * Returns the destinations that a change removes or gives another address, once for each opening that they accepted and whose end they have not: the end is
 * delivered to the address before, unless it is disabled.
 */
export async function findFormer(change: Change, readLog: ReadLog): Promise<Former> {
  const { stored, before, destinations, states, sequence, now } = change;
  const former: Former = { destinations: [], addresses: [] };
  for (const destination of stored.config.destinations) {
    const { destination_id: id, fingerprint } = destination;
    const address = before.find((each) => each.destination_id === id);
    const state = states.find((each) => each.destination_id === id && each.fingerprint === fingerprint);
    if (!address || !state || state.disabled) continue;
    if (destinations.some((each) => isSame(each, destination))) continue;
    const endings =
      destination.type === 'mqtt'
        ? endBroker(address, change)
        : await findEndings(destination, state, change, readLog);
    for (const ending of endings) {
      const former_id = `${id}~${sequence}.${former.addresses.length}`;
      const { url_masked } = destination;
      former.destinations.push({
        former_id,
        destination_id: id,
        url_masked,
        sequence,
        removed_at: now.toISOString(),
      });
      former.addresses.push({ former_id, destination, address, ending });
    }
  }
  return former;
}

/** Returns the former destinations of a watch that still wait for their delivery, with new ones. */
export function joinFormer(waiting: Former, added: Former, now: Date): Former {
  const destinations = [
    ...waiting.destinations.filter((each) => !isFormerOver(each, now)),
    ...added.destinations,
  ];
  const ids = new Set(destinations.map(({ former_id }) => former_id));
  const addresses = [...waiting.addresses, ...added.addresses].filter(({ former_id }) => ids.has(former_id));
  return { destinations, addresses };
}

function isSame(one: Destination, other: Destination): boolean {
  return (
    one.destination_id === other.destination_id &&
    one.type === other.type &&
    one.fingerprint === other.fingerprint
  );
}

async function findEndings(
  destination: Destination,
  { notified }: DestinationState,
  { stored, sequence, now }: Change,
  readLog: ReadLog,
): Promise<WatchEvent[]> {
  const endings: (WatchEvent | undefined)[] = [];
  for (const opening of notified.filter(({ delivered }) => delivered)) {
    const ending = findEnd(opening.subject, stored, now);
    if (ending) endings.push(...toWatchEvents([ending], stored, sequence - 1, now));
    else endings.push(await findLoggedEnd(opening, readLog));
  }
  return endings
    .filter((ending) => ending !== undefined)
    .filter((ending) => isWanted(destination, ending, notified));
}

/** Returns the end of an opening from the log: it can wait for a retry, or for its first attempt. Returns undefined if it is no longer kept. */
async function findLoggedEnd(
  { subject, sequence }: DestinationState['notified'][number],
  readLog: ReadLog,
): Promise<WatchEvent | undefined> {
  for (let page = await readLog(sequence); ;) {
    const last = page.at(-1);
    const ending = page
      .filter(isWatchEvent)
      .find((event) => isEnding(event) && findSubject(event) === subject);
    if (ending || !last) return ending;
    page = await readLog(last.sequence);
  }
}

/** Returns the end of an open alert or a lost stream for one destination; undefined if it has ended. */
function findEnd(subject: string, watch: WatchRun, now: Date): NewWatchEvent | undefined {
  const { config, state } = watch;
  if (subject === 'stream') return endedLoss(watch, 'destination_changed', now)[0];
  for (const condition of state.conditions) {
    const rule = config.conditions.find(({ condition_id: id }) => id === condition.condition_id);
    if (!rule || !isOpen(condition) || condition.alert.alert_id !== subject) continue;
    const { event } = closeAlert(condition, rule, 'cleared', { frameKey: null, now });
    if (event.type === 'alert_closed')
      return { ...event, data: { ...event.data, reason: 'destination_changed' } };
  }
  return undefined;
}

/** The broker removes what it keeps of the watch, unless the watch still publishes there. */
function endBroker({ url }: DestinationAddress, { stored, after, sequence, now }: Change): WatchEvent[] {
  const isKept = after.some((other) => other.type === 'mqtt' && readHost(other.url) === readHost(url));
  const data = { status: stored.status, reason: 'changed' as const };
  return isKept ? [] : toWatchEvents([{ type: 'watch_changed', data }], stored, sequence - 1, now);
}

function readHost(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).hostname;
}
