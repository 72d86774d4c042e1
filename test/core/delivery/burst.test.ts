import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { destinationTypeSchema } from '../../../core/records/watch.ts';
import { closed, createWatching, failing, opened } from '../../support/watches/delivery.ts';

const forPeople = ['slack', 'discord', 'ntfy', 'telegram', 'email'];
const types = destinationTypeSchema.options.filter((type) => type !== 'heartbeat');

/** Returns a check that a list has each of these once. */
function isEach(ids: readonly string[]) {
  return (list: readonly string[]) => list.length === ids.length && ids.every((id) => list.includes(id));
}

/** Opens alerts, one every `apart` seconds. */
async function open(
  watch: Awaited<ReturnType<typeof createWatching>>,
  count: number,
  apart: number,
  severity: 'warning' | 'critical' = 'warning',
) {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) {
    await watch.commit([opened(id, severity)]);
    await watch.pass(apart);
  }
  return ids;
}

test.each(types)(
  'a burst of eight openings reaches people in three messages, and programs one by one (%s)',
  async (type) => {
    const watch = await createWatching(
      ({ id }) => ({ receipt: id }),
      [{ type, notify: 'openings_and_closings' }],
    );
    const ids = await open(watch, 8, 4);
    await watch.pass(120);
    const sent = watch.sent.filter((each) => each.type === 'alert_opened');
    expect(sent.flatMap(({ alert, joined = [] }) => [alert, ...joined])).toEqual(
      expect.toSatisfy(isEach(ids)),
    );
    const isJoined = forPeople.includes(type);
    expect(sent.map(({ joined = [] }) => joined.length)).toEqual(
      isJoined ? [0, 0, 5] : [0, 0, 0, 0, 0, 0, 0, 0],
    );
    if (isJoined)
      expect(sent.map(({ at }) => at)).toEqual([
        0,
        expect.toSatisfy((at) => at <= 5),
        expect.toSatisfy((at) => at <= 61),
      ]);
    const deliveries = await watch.deps.deliveries.list(watch.runKey, 0, 100);
    expect(deliveries.map(({ state }) => state)).toEqual(ids.map(() => 'delivered'));
    // A clip answers the message that told its opening.
    expect(new Set(deliveries.map(({ receipt }) => receipt))).toEqual(new Set(sent.map(({ id }) => id)));
    const [state] = await watch.deps.deliveries.states(watch.runKey);
    expect(state?.waiting).toEqual([]);
    expect(state?.notified.map(({ subject }) => subject)).toEqual(expect.toSatisfy(isEach(ids)));
    expect(state?.notified.every(({ delivered }) => delivered)).toBe(true);
    expect(watch.counted).toEqual(ids.map(() => 'delivered'));
  },
);

test('openings half a minute apart, and critical ones, wait for nothing', async () => {
  for (const [apart, severity] of [
    [31, 'warning'],
    [1, 'critical'],
  ] as const) {
    const watch = await createWatching(() => ({}), [{ type: 'ntfy' }]);
    await open(watch, 5, apart, severity);
    expect(watch.sent.map(({ joined }) => joined)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  }
});

test('openings that wait while a receiver fails are one message when it works again, and each closing follows its opening', async () => {
  let works = false;
  const watch = await createWatching(
    () => (works ? {} : failing),
    [{ type: 'telegram', notify: 'openings_and_closings' }],
  );
  const ids = await open(watch, 6, 5);
  await watch.commit(ids.map((id) => closed(id)));
  await watch.pass(30);
  works = true;
  watch.sent.length = 0;
  await watch.pass(3600);
  const told = watch.sent.filter(({ type }) => type === 'alert_opened');
  expect(told).toHaveLength(1);
  expect([told[0]?.alert, ...(told[0]?.joined ?? [])]).toEqual(expect.toSatisfy(isEach(ids)));
  const ends = watch.sent.filter(({ type }) => type === 'alert_closed').map(({ alert }) => alert);
  expect(ends).toEqual(expect.toSatisfy(isEach(ids)));
});

test('an opening that waits is delivered though its alert has ended meanwhile', async () => {
  const watch = await createWatching(() => ({}), [{ type: 'slack', notify: 'openings' }]);
  const ids = await open(watch, 5, 2);
  await watch.commit(ids.map((id) => closed(id)));
  await watch.pass(120);
  const told = watch.sent.flatMap(({ alert, joined = [] }) => [alert, ...joined]);
  expect(told).toEqual(expect.toSatisfy(isEach(ids)));
  expect(watch.sent).toHaveLength(3);
});

test('each opening of a message that is refused has a message of its own', async () => {
  const watch = await createWatching(
    ({ joined }) => (joined ? { status: 400, outcome: 'rejected' } : {}),
    [{ type: 'discord', notify: 'openings_and_closings' }],
  );
  const ids = await open(watch, 7, 1);
  await watch.pass(600);
  const alone = watch.sent.filter(({ joined }) => !joined).map(({ alert }) => alert);
  expect(alone).toEqual(expect.toSatisfy(isEach(ids)));
  expect(watch.counted).toEqual(ids.map(() => 'delivered'));
  const [state] = await watch.deps.deliveries.states(watch.runKey);
  expect(state?.waiting).toEqual([]);
  expect(state?.notified.every(({ delivered }) => delivered)).toBe(true);
});

test('a message that a login page answers is not sent again, nor is any opening that it took along', async () => {
  const watch = await createWatching(
    ({ joined }) => (joined ? { status: 200, outcome: 'rejected', mayBeAccepted: true } : {}),
    [{ type: 'ntfy', notify: 'openings_and_closings' }],
  );
  const ids = await open(watch, 6, 1);
  await watch.commit(ids.map((id) => closed(id)));
  await watch.pass(3600);
  const told = watch.sent.filter(({ type }) => type === 'alert_opened');
  expect(told.flatMap(({ alert, joined = [] }) => [alert, ...joined])).toEqual(expect.toSatisfy(isEach(ids)));
  const [state] = await watch.deps.deliveries.states(watch.runKey);
  expect(state?.waiting).toEqual([]);
  expect(watch.counted.filter((each) => each === 'failed')).toHaveLength(4);
});

test('an opening that is refused alone fails, and not those that it took along', async () => {
  let refused: string | undefined;
  const watch = await createWatching(
    ({ alert, joined }) => {
      if (joined) refused ??= alert;
      return alert === refused ? { status: 400, outcome: 'rejected' } : {};
    },
    [{ type: 'discord' }],
  );
  const ids = await open(watch, 6, 1);
  await watch.pass(600);
  expect(watch.counted.toSorted()).toEqual([...ids.slice(1).map(() => 'delivered'), 'failed']);
});
