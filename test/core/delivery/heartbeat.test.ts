import { expect, test } from 'vitest';
import { asWatch } from '../../../core/records/run.ts';
import { initialSight } from '../../../core/records/sight.ts';
import type { NewWatchEvent } from '../../../core/records/watch-event.ts';
import { failingModel, notJudged } from '../../support/trouble.ts';
import { createWatching, failing, first, opened } from '../../support/watches/delivery.ts';

function failingDestination(id: string) {
  return {
    late_since: null,
    failing: [{ destination_id: id, since: '2026-03-01T12:00:00.000Z', error: 'the receiver answered 404' }],
  };
}

const progress = (stream: 'ok' | 'stale' | 'reconnecting', triggered: boolean | null): NewWatchEvent => ({
  type: 'progress',
  data: {
    check: 1,
    conditions: [{ condition_id: 'person', triggered, state: 'clear', explanation: '' }],
    prefilter_skipped: false,
    motion: null,
    explanation: '',
    captured_at: null,
    stream,
    picture: null,
    next_check_at: null,
  },
});

test('a heartbeat follows checks that saw the stream, once a minute, and no alert', async () => {
  const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
  await watch.commit([progress('ok', false), opened(first)]);
  await watch.pass(10);
  await watch.commit([progress('ok', true)]);
  await watch.pass(50);
  await watch.commit([progress('ok', false)]);
  await watch.pass(60);
  expect(watch.sent.map(({ at, type }) => [at, type])).toEqual([
    [0, 'heartbeat'],
    [60, 'heartbeat'],
  ]);
});

test.each([
  ['checks are late', { health: { late_since: '2026-03-01T12:00:00.000Z', failing: [] } }, {}],
  ['the model fails', {}, { sight: { ...initialSight, model_trouble: failingModel(1) } }],
  ['the stream is lost', {}, { status: 'stream_lost' as const }],
  ['another destination fails', { health: failingDestination('team') }, {}],
  ['the model cannot judge a condition', { conditions: [notJudged] }, {}],
  ['the time since the last sight is a gap', {}, { sight: { ...initialSight, in_gap: 'stream' as const } }],
])('a heartbeat is silent while %s', async (_, state, set) => {
  const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
  const before = asWatch(await watch.deps.runs.get(watch.watch.run_id, watch.deps.now()));
  await watch.commit([progress('ok', false)], { ...set, state: { ...before!.state, ...state } });
  await watch.pass(10);
  expect(watch.sent).toEqual([]);
});

test('a heartbeat that failed itself is called again', async () => {
  const watch = await createWatching(() => ({}), [{ destination_id: 'kuma', type: 'heartbeat' }]);
  const before = asWatch(await watch.deps.runs.get(watch.watch.run_id, watch.deps.now()));
  const state = { ...before!.state, health: failingDestination('kuma') };
  await watch.commit([progress('ok', false)], { state });
  await watch.pass(10);
  expect(watch.sent).toHaveLength(1);
});

test('a lost stream, a failed model and a failing monitor cause no heartbeat and no retry', async () => {
  const watch = await createWatching(() => failing, [{ destination_id: 'kuma', type: 'heartbeat' }]);
  await watch.commit([progress('reconnecting', null), progress('stale', null), progress('ok', null)]);
  await watch.pass(600);
  expect(watch.sent).toEqual([]);
  await watch.commit([progress('ok', false)]);
  await watch.pass(600);
  expect(watch.sent).toHaveLength(1);
  const [state] = await watch.deps.deliveries.states(watch.runKey);
  expect(state).toMatchObject({ failures: 1, last_error: 'the receiver answered 503', disabled: null });
});
