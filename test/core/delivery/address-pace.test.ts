import { expect, test } from 'vitest';
import { createAddressPace } from '../../../core/delivery/address-pace.ts';
import { createWatching, first, opened } from '../../support/watches/delivery.ts';

test('requests to an address follow each other by a second', () => {
  let now = 0;
  const pace = createAddressPace(() => new Date(now));
  expect([pace.take('a'), pace.take('a'), pace.take('b')]).toEqual([0, 1, 0]);
  now = 400;
  expect(pace.take('a')).toBeCloseTo(0.6);
  now = 1000;
  expect([pace.take('a'), pace.take('a')]).toEqual([0, 1]);
});

test('a clock that is set back stops no address', () => {
  let now = 3_600_000;
  const pace = createAddressPace(() => new Date(now));
  pace.take('a');
  now = 0;
  expect(pace.take('a')).toBe(0);
});

test('two destinations of a watch with one address share its rate', async () => {
  const destinations = [{ destination_id: 'one' }, { destination_id: 'other' }, { destination_id: 'third' }];
  const watch = await createWatching(() => ({}), destinations);
  Object.assign(watch.deps, { addressPace: createAddressPace(watch.deps.now) });
  await watch.commit([opened(first)]);
  await watch.pass(5);
  expect(watch.sent.map(({ at }) => at)).toEqual([0, 1, 2]);
});
