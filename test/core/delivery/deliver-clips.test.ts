import { expect, test } from 'vitest';
import { withoutClip } from '../../../core/records/clip.ts';
import type { NewWatchEvent } from '../../../core/records/watch-event.ts';
import { closed, createWatching, failing, first, opened, second } from '../../support/watches/delivery.ts';

const made = {
  clip_key: 'clips/7/source/alert.mp4',
  from: '2026-03-01T11:59:52.000Z',
  to: '2026-03-01T12:00:08.000Z',
  bytes: 2_000_000,
  codec: 'avc1',
  reason: null,
};

function clipOf(
  alertId: string,
  opening: number,
  clip = made as ReturnType<typeof withoutClip>,
): NewWatchEvent {
  const { condition_id, condition, severity, opened_at } = closed(alertId).data as any;
  const data = { alert_id: alertId, condition_id, condition, severity, opened_at, ...clip, opening };
  return { type: 'alert_clip', data };
}

const people = [
  { destination_id: 'all', type: 'webhook' as const },
  { destination_id: 'chat', type: 'slack' as const, notify: 'openings' as const },
  { destination_id: 'still', type: 'ntfy' as const, include_clip: false },
  { destination_id: 'critical', type: 'slack' as const, min_severity: 'critical' as const },
  { destination_id: 'incidents', type: 'pagerduty' as const, notify: 'openings_and_closings' as const },
  { destination_id: 'broker', type: 'mqtt' as const, notify: 'openings_and_closings' as const },
];

test('a destination that received an opening receives its clip, also after the closing, but for an incident that is over', async () => {
  const watch = await createWatching(() => ({}), people);
  const clips = () => watch.sent.filter(({ type }) => type === 'alert_clip').map(({ to }) => to);
  await watch.commit([opened(first), opened(second), closed(first)]);
  await watch.pass(30);
  await watch.commit([clipOf(first, 1)]);
  await watch.pass(30);
  expect(clips().toSorted()).toEqual(['all', 'chat']);
  await watch.commit([clipOf(second, 2)]);
  await watch.pass(30);
  expect(clips().toSorted()).toEqual(['all', 'all', 'chat', 'chat', 'incidents']);
  await watch.close();
});

test('programs receive the reason for a missing clip, people do not', async () => {
  const watch = await createWatching(() => ({}), people);
  await watch.commit([opened(first)]);
  await watch.commit([clipOf(first, 1, withoutClip('The stream is gone'))]);
  await watch.pass(30);
  expect(watch.types().filter((type) => type.endsWith('alert_clip'))).toEqual(['all alert_clip']);
  await watch.close();
});

test('a clip answers the message of its opening, which the alert that is over does not keep', async () => {
  const watch = await createWatching(
    () => ({ receipt: '77' }),
    [{ destination_id: 'chat', type: 'telegram' }],
  );
  await watch.commit([opened(first)]);
  await watch.pass(30);
  await watch.commit([closed(first)]);
  await watch.pass(30);
  await watch.commit([clipOf(first, 1)]);
  await watch.pass(30);
  expect(watch.sent.map(({ type, opening }) => [type, opening])).toEqual([
    ['alert_opened', undefined],
    ['alert_closed', '77'],
    ['alert_clip', '77'],
  ]);
  await watch.close();
});

test('a clip waits for its opening, and is not sent to whom refused that', async () => {
  let answer: object = failing;
  const watch = await createWatching(() => answer, [{ destination_id: 'chat', type: 'slack' }]);
  await watch.commit([opened(first), clipOf(first, 1)]);
  await watch.pass(3);
  expect(watch.types()).toEqual(['chat alert_opened']);
  answer = { status: 400, outcome: 'rejected' };
  await watch.pass(600);
  expect(watch.types()).toEqual(['chat alert_opened', 'chat alert_opened']);
  expect(watch.counted).toEqual(['failed', 'failed']);
  await watch.close();
});

test('a destination that has another address since the opening gets no clip of it', async () => {
  const watch = await createWatching(() => ({ receipt: '77' }), people.slice(1, 2));
  await watch.commit([opened(first)]);
  await watch.pass(30);
  await watch.edit(({ config, ...rest }) => {
    const destinations = config.destinations.map((each) => ({ ...each, fingerprint: 'fedcba9876543210' }));
    return { ...rest, config: { ...config, destinations } };
  });
  await watch.commit([clipOf(first, 1), opened(second)]);
  await watch.pass(30);
  await watch.commit([clipOf(second, 3)]);
  await watch.pass(30);
  expect(watch.sent.map(({ type, alert }) => [type, alert])).toEqual([
    ['alert_opened', first],
    ['alert_opened', second],
    ['alert_clip', second],
  ]);
  await watch.close();
});

test('a destination that was added after the opening gets no clip of it, which is no failure', async () => {
  const watch = await createWatching(() => ({}), people.slice(0, 1));
  await watch.commit([clipOf(first, 1)]);
  await watch.pass(30);
  expect([watch.types(), watch.counted]).toEqual([[], []]);
  await watch.close();
});
