import { expect, test } from 'vitest';
import type { Publication } from '../../../adapters/destinations/mqtt/mqtt.ts';
import { startBrokerPresence } from '../../../cli/service/senders.ts';
import { createFakeTime } from '../../adapters/embedded/fake-time.ts';
import { createWatching } from '../../support/watches/delivery.ts';

async function start(type: 'mqtt' | 'slack' = 'mqtt') {
  const { deps, watch, log } = await createWatching(() => ({}), [{ type }]);
  const time = createFakeTime();
  const published: { url: string; publications: readonly Publication[] }[] = [];
  const stop = startBrokerPresence({
    unfinishedRuns: () => [{ run_id: watch.run_id }],
    runs: deps.runs,
    publish: async (url, publications) => {
      published.push({ url, publications });
      return { status: null, latencyMs: 0, error: null, retryAfter: null, outcome: 'delivered' };
    },
    setTimer: time.setTimer,
    log,
  });
  const availability = () =>
    published.map(
      ({ publications }) => publications.find(({ topic }) => topic.endsWith('/availability'))!.payload,
    );
  return { published, time, stop, availability };
}

test('brokers get the states of active watches at the start and every five minutes, and offline at the end', async () => {
  const { published, time, stop, availability } = await start();
  await time.pass(1);
  expect(published[0]?.url).toBe('https://example.com/secret');
  const topics = published[0]!.publications.map(({ topic }) => topic.split('/')[2]);
  expect(new Set(topics)).toEqual(new Set(['stream', 'condition', 'availability']));
  await time.pass(600);
  await stop();
  expect(availability()).toEqual(['online', 'online', 'online', 'offline']);
  expect(published.at(-1)?.publications).toHaveLength(1);
  await time.pass(900);
  expect(published).toHaveLength(4);
});

test('a service without a broker publishes nothing', async () => {
  const { published, stop } = await start('slack');
  await stop();
  expect(published).toEqual([]);
});
