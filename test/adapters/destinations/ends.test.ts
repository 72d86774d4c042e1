import { describe, expect, test } from 'vitest';
import { createDestinations } from '../../../adapters/destinations/destination-sender.ts';
import type { Publication } from '../../../adapters/destinations/mqtt/mqtt.ts';
import { createWebhookSigner } from '../../../adapters/signers.ts';
import { alertId, notify, watchId } from './notifications.ts';

const accepted = { status: 202, latencyMs: 1, error: null, retryAfter: null };
const page = { destination_id: 'd', type: 'pagerduty', routing_key: 'k'.repeat(32) } as const;
const broker = { destination_id: 'd', type: 'mqtt', url: 'mqtt://broker.example' } as const;
const conditions = [{ condition_id: 'truck', condition: 'a truck blocks the gate' }];
const open = { watchId, conditions, subjects: [alertId, 'stream', 'model'] };

/** Destinations whose receivers keep what they get. */
function create(status = 202) {
  const actions: [action: string, key: string][] = [];
  const published: Publication[] = [];
  const destinations = createDestinations({
    http: {
      send: async ({ body }) => {
        const { event_action: action, dedup_key: key } = JSON.parse(String(body));
        actions.push([action, key]);
        return { ...accepted, status };
      },
    },
    publish: async (_, publications) => {
      published.push(...publications);
      return { ...accepted, outcome: status === 202 ? 'delivered' : 'retry' };
    },
    signer: createWebhookSigner({ masterSecret: new Uint8Array(32) }),
    now: () => new Date(),
  });
  const readRetained = () =>
    new Map(published.filter(({ retain }) => retain).map((each) => [each.topic, each.payload]));
  return { destinations, actions, published, readRetained };
}

describe('what stands open at PagerDuty', () => {
  test('an incident that PagerDuty opens while its destination is removed is resolved immediately', async () => {
    const { destinations, actions } = create();
    await destinations.send(page, notify('alert_opened', { readCurrent: async () => null }));
    expect(actions).toEqual([
      ['trigger', alertId],
      ['resolve', alertId],
    ]);
  });

  test('an incident of a watch that was deleted before has its own end', async () => {
    const { destinations, actions } = create();
    await destinations.send(page, notify('alert_closed', { current: null, readCurrent: async () => null }));
    expect(actions).toEqual([['resolve', alertId]]);
  });

  test('all incidents of a watch are resolved', async () => {
    const { destinations, actions } = create();
    expect(await destinations.end(page, open)).toBeNull();
    expect(actions).toEqual([
      ['resolve', alertId],
      ['resolve', `${watchId}:stream`],
      ['resolve', `${watchId}:model`],
    ]);
  });

  test('a receiver that refuses the end is named, and other types need none', async () => {
    const { destinations, actions } = create(500);
    expect(await destinations.end(page, open)).toBe('the receiver answered 500');
    actions.length = 0;
    const slack = { destination_id: 'd', type: 'slack', url: 'https://hooks.example' } as const;
    expect(await destinations.end(slack, open)).toBeNull();
    expect(actions).toEqual([]);
  });
});

describe('what a broker keeps', () => {
  test('a broker gets the state again that has changed during the attempt', async () => {
    const { destinations, published } = create();
    const readCurrent = async () => ({ openConditions: [], isStreamLost: false });
    await destinations.send(broker, notify('alert_opened', { readCurrent }));
    const states = published.filter(({ topic }) => topic === `watchpost/${watchId}/condition/truck`);
    expect(states.map(({ payload }) => payload)).toEqual(['ON', 'OFF']);
  });

  test('a broker keeps nothing of a watch whose destination is removed, before an attempt or during it', async () => {
    const { destinations, readRetained } = create();
    await destinations.send(broker, notify('alert_opened'));
    const kept = [...readRetained().values()].filter((payload) => payload !== '');
    expect(kept.length).toBeGreaterThan(6);
    expect(await destinations.end(broker, open)).toBeNull();
    expect([...readRetained().values()].filter((payload) => payload !== '')).toEqual([]);
    await destinations.send(broker, notify('alert_opened', { readCurrent: async () => null }));
    expect([...readRetained().values()].filter((payload) => payload !== '')).toEqual([]);
  });

  test('a broker keeps nothing of a condition that is removed', async () => {
    const { destinations, readRetained } = create();
    await destinations.send(broker, notify('alert_opened'));
    const removed = { reason: 'changed', removed_conditions: ['truck'] };
    await destinations.send(broker, notify('watch_changed', { conditions: [] }, removed));
    const left = [...readRetained()].filter(([topic]) => topic.includes('truck'));
    expect(left.map(([, payload]) => payload)).toEqual(['', '', '']);
  });
});
