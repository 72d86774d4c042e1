import { embeddedRuns, watchRuns } from '../select-runs.ts';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { createDeliveryQueue } from '../../../adapters/embedded/queue/delivery-queue.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import { createDeliveryStore } from '../../../adapters/embedded/queue/delivery-store.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import { publishCommits } from '../../../core/delivery/publish.ts';
import type { WatchChange } from '../../../core/ports/runs.ts';
import type { DestinationResult, Notification } from '../../../core/ports/delivery.ts';
import type { QueueMessage } from '../../../core/records/delivery.ts';
import type { Destination, DestinationAddress, Watch } from '../../../core/records/watch.ts';
import { toWatchEvents, type NewWatchEvent } from '../../../core/records/watch-event.ts';
import { createCollectedLog } from '../../adapters/embedded/log/collected-log.ts';
import { createFakeTime } from '../../adapters/embedded/fake-time.ts';
import { newChange, newCreation } from '../../contract/watch-records.ts';

import { destination, evidenceLinks, messageFacts } from './watch-records.ts';

export type Answer = Partial<DestinationResult>;
type Sent = {
  at: number;
  to: string;
  type: string;
  alert: string | undefined;
  id: string;
  /** Alerts that the message is about too. */
  joined?: string[];
} & Pick<Notification, 'current' | 'readCurrent' | 'opening'>;

export const [first, second] = [randomUUID(), randomUUID()];
export function opened(
  alertId: string,
  severity: 'info' | 'warning' | 'critical' = 'warning',
): NewWatchEvent {
  return {
    type: 'alert_opened',
    data: { ...alert(alertId, severity), explanation: 'A person.', checks: [], frame_key: 'evidence/1.jpg' },
  };
}
export function closed(alertId: string): NewWatchEvent {
  return {
    type: 'alert_closed',
    data: {
      ...alert(alertId),
      closed_at: '2026-03-01T12:05:00.000Z',
      open_seconds: 300,
      seen_seconds: 300,
      reason: 'cleared',
      explanation: '',
      frame_key: null,
    },
  };
}
function alert(alertId: string, severity: 'info' | 'warning' | 'critical' = 'warning') {
  return {
    alert_id: alertId,
    condition_id: 'person',
    condition: 'A person is at the gate',
    severity,
    opened_at: '2026-03-01T12:00:00.000Z',
  };
}

/** A stored watch, the queue of one machine and destinations whose answers are scripted. */
export async function createWatching(
  answer: (sent: Sent, before: number) => Answer | Promise<Answer>,
  destinations: Partial<Destination>[] = [{}],
) {
  const database = openDatabase(':memory:');
  const time = createFakeTime();
  const log = createCollectedLog();
  const queue = createDeliveryQueue({ database, now: time.now, setTimer: time.setTimer, log });
  const queued: QueueMessage[] = [];
  const stores = embeddedRuns(database);
  const { runs: store } = stores;
  const creation = newCreation();
  const list = destinations.map((each) => ({ ...destination, notify: 'everything' as const, ...each }));
  const addresses: DestinationAddress[] = list.map(({ destination_id, type }) => ({
    destination_id,
    type,
    url: 'https://example.com/secret',
  }));
  creation.config.destinations = list;
  creation.secrets.destinations = addresses;
  await stores.watches.create({ ...creation, events: [], sequence: 0 }, time.now());
  const sent: Sent[] = [];
  const began = time.now().getTime();
  const counted: string[] = [];
  const publishing = {
    queue: {
      send: async (message: QueueMessage) => {
        queued.push(message);
        await queue.send(message);
      },
    },
    log,
    now: time.now,
    deliveries: createDeliveryStore(database),
  };
  let isPublishing = true;
  const published = publishCommits(store, publishing);
  const commit: typeof store.commit = (change) => (isPublishing ? published : store).commit(change);
  const runs = { ...published, commit };
  const watches = watchRuns(runs, stores.watches);
  const deps = {
    ...publishing,
    runs,
    baseUrl: 'http://127.0.0.1/api',
    signer: { sign: unused, secret: unused, fingerprintKey: unused },
    limits: { retentionSeconds: 3_600 },
    media: {
      get: async () => Uint8Array.of(1),
      put: async () => undefined,
      remove: async () => undefined,
      removeOfSource: async () => 0,
    },
    meter: {
      count: async ({ kind, ...rest }: any) =>
        void (kind === 'delivery' && counted.push(rest.delivered ? 'delivered' : 'failed')),
      read: async () => {
        throw new Error('not read');
      },
    },
    destinations: {
      offered: { types: [], recipients: [] },
      reasonToRefuse: () => null,
      end: async () => null,
      sendEnvelope: unused,
      send: async (
        address: DestinationAddress,
        { event, id, current, readCurrent, opening, joined }: Notification,
      ) => {
        const each: Sent = {
          at: Math.round((time.now().getTime() - began) / 1000),
          to: address.destination_id,
          type: event.type,
          alert: 'alert_id' in event.data ? event.data.alert_id : undefined,
          id,
          current,
          ...(readCurrent && { readCurrent }),
          ...(opening !== undefined && { opening }),
          ...(joined && { joined: joined.map(({ data }) => data.alert_id) }),
        };
        const before = sent.filter((other) => other.id === id && other.to === each.to).length;
        sent.push(each);
        const result = { status: 204, latencyMs: 1, error: null, retryAfter: null, outcome: 'delivered' };
        return { ...result, ...(await answer(each, before)) } as DestinationResult;
      },
    },
    evidenceLinks,
    messageFacts,
    addressPace: { take: () => 0 },
    newId: () => randomUUID(),
    random: () => 0.5,
  };
  const consumer = queue.consume(async (message) =>
    'run' in message ? deliver(message, deps) : { kind: 'done' },
  );
  return {
    sent,
    queued,
    counted,
    deps,
    log,
    store: { stopPublishing: () => void (isPublishing = false) },
    pass: time.pass,
    watch: creation,
    runKey: { run: 'watch', run_id: creation.run_id } as const,
    types: () => sent.map(({ to, type }) => `${to} ${type}`),
    commit: async (events: NewWatchEvent[], set: Partial<WatchChange['set']> = {}) => {
      const run = (await watches.get(creation.run_id, time.now()))!;
      const at = toWatchEvents(events, creation, run.sequence, time.now());
      const change = newChange(
        { ...creation, ...run },
        { events: at, set: { ...set, sequence: run.sequence + at.length } },
      );
      expect(await watches.commit(change)).toBe('committed');
    },
    edit: async (change: (watch: Watch) => Watch) => {
      const stored = (await watches.get(creation.run_id, time.now()))!;
      const set = { sequence: stored.sequence };
      const edited = {
        ...newChange({ ...creation, ...stored }, { events: [], set }),
        meta: change(stored),
      };
      expect(await watches.commit(edited)).toBe('committed');
    },
    /** Resolves after a response time, in seconds. */
    wait: (seconds: number) => new Promise<void>((resolve) => void time.setTimer(resolve, seconds * 1000)),
    close: () => consumer.close(),
  };
}

export const failing: Answer = { status: 503, outcome: 'retry' };

async function unused(): Promise<never> {
  throw new Error('not expected');
}
