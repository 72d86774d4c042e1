import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { WatchChange } from '../../core/ports/runs.ts';
import { withoutClip } from '../../core/records/clip.ts';
import type { Alert } from '../../core/records/watch-state.ts';
import { after, start } from './records.ts';
import { newAlert, newChange, newCreation, review, withWatch, type MakeStore } from './watch-records.ts';

/** Contract of `WatchStore`: alerts, their lists and reviews. */
export function alertCases(makeStore: MakeStore): void {
  test('an alert is opened, repeated, acknowledged and closed, and gets its clip by commits', async () => {
    const { store, creation } = await withWatch(makeStore);
    const alert = newAlert(creation);
    const id = alert.alert_id;
    const acknowledged = { at: after(30).toISOString(), by: 'ops' };
    const closed = {
      at: after(60).toISOString(),
      reason: 'cleared' as const,
      explanation: 'Nobody is there.',
      open_seconds: 60,
      seen_seconds: 60,
      frame_key: null,
    };
    const expiresAt = after(86_400).toISOString();
    const clip = withoutClip('The stream is gone');
    const steps: WatchChange['alerts'] = [
      { kind: 'open', alert },
      { kind: 'remind', alertId: id },
      { kind: 'acknowledge', alertId: id, acknowledged },
      { kind: 'close', alertId: id, closed, expiresAt },
      { kind: 'clip', alertId: id, clip },
    ];
    for (const [index, step] of steps.entries()) {
      const expectedVersion = creation.version + index;
      expect(await store.commit({ ...newChange(creation, { alerts: [step] }), expectedVersion })).toBe(
        'committed',
      );
    }

    const expected = { ...alert, reminders: 1, acknowledged, closed, expires_at: expiresAt, clip };
    expect(await store.alert(id, start)).toEqual(expected);
    expect(await store.alerts({ caller: 'alice', limit: 10, state: 'closed' }, start)).toEqual([expected]);
    expect(await store.alerts({ caller: 'alice', limit: 10, state: 'open' }, start)).toEqual([]);
    expect(await store.alert(id, after(86_401))).toBeUndefined();
    expect(await store.alerts({ caller: 'alice', limit: 10 }, after(86_401))).toEqual([]);
  });

  test('an alert that opens and closes in one commit is closed', async () => {
    const { store, creation } = await withWatch(makeStore);
    const closed = {
      at: after(6).toISOString(),
      reason: 'cleared' as const,
      explanation: 'Nobody is there.',
      open_seconds: 6,
      seen_seconds: 6,
      frame_key: 'evidence/7/2.jpg',
    };
    const ended = { closed, expires_at: after(86_400).toISOString(), lost_seconds: 75 };
    const alert = newAlert(creation, ended);
    await store.commit(newChange(creation, { alerts: [{ kind: 'open', alert }] }));
    expect(await store.alert(alert.alert_id, start)).toEqual(alert);
    expect(await store.alerts({ caller: 'alice', limit: 10, state: 'closed' }, start)).toEqual([alert]);
    expect(await store.alerts({ caller: 'alice', limit: 10, state: 'open' }, start)).toEqual([]);
    expect(await store.alert(alert.alert_id, after(86_401))).toBeUndefined();
  });

  test('alerts of a caller are listed newest first, in pages, by watch and condition', async () => {
    const store = await makeStore();
    const [gate, yard, foreign] = [newCreation(), newCreation(), newCreation({ caller: 'bob' })];
    for (const creation of [gate, yard, foreign]) await store.create(creation, start);
    const alerts = [0, 10, 20].map((seconds) => newAlert(gate, { opened_at: after(seconds).toISOString() }));
    const other = newAlert(yard, { opened_at: after(15).toISOString() });
    await store.commit(newChange(gate, { alerts: alerts.map((alert) => ({ kind: 'open', alert })) }));
    await store.commit(newChange(yard, { alerts: [{ kind: 'open', alert: other }] }));
    await store.commit(newChange(foreign, { alerts: [{ kind: 'open', alert: newAlert(foreign) }] }));
    const read = async (query: object) =>
      (await store.alerts({ caller: 'alice', limit: 10, ...query }, start)).map(
        ({ opened_at: at }) => (Date.parse(at) - start.getTime()) / 1000,
      );

    expect(await read({})).toEqual([20, 15, 10, 0]);
    expect(await read({ limit: 2 })).toEqual([20, 15]);
    expect(await read({ limit: 2, after: other })).toEqual([10, 0]);
    expect(await read({ watchId: gate.run_id })).toEqual([20, 10, 0]);
    expect(await read({ watchId: gate.run_id, conditionId: 'person' })).toEqual([20, 10, 0]);
    expect(await read({ conditionId: 'pers' })).toEqual([]);
  });

  test('alerts of a span are those that were open in it, also those that opened before', async () => {
    const { store, creation } = await withWatch(makeStore);
    const spans = [
      [0, 9],
      [1, 10],
      [5, null],
      [12, 13],
      [15, 40],
      [20, 21],
    ] as const;
    for (const [index, [opened, closed]] of spans.entries()) {
      const alert = newAlert(creation, {
        opened_at: after(opened).toISOString(),
        ...(closed !== null && {
          closed: {
            at: after(closed).toISOString(),
            reason: 'cleared' as const,
            explanation: '',
            open_seconds: closed - opened,
            seen_seconds: closed - opened,
            frame_key: null,
          },
          expires_at: after(86_400).toISOString(),
        }),
      });
      const change = newChange(creation, { alerts: [{ kind: 'open', alert }] });
      await store.commit({ ...change, expectedVersion: creation.version + index });
    }
    const read = async (query: object) =>
      (await store.alerts({ caller: 'alice', limit: 10, ...query }, start)).map(
        ({ opened_at: at }) => (Date.parse(at) - start.getTime()) / 1000,
      );
    const span = { from: after(10), to: after(20) };
    expect(await read(span)).toEqual([15, 12, 5, 1]);
    expect(await read({ ...span, state: 'open' })).toEqual([5]);
    expect(await read({ ...span, state: 'closed' })).toEqual([15, 12, 1]);
    expect(await read({ from: after(14) })).toEqual([20, 15, 5]);
    expect(await read({ to: after(5) })).toEqual([1, 0]);
    const [, last] = await store.alerts({ caller: 'alice', limit: 2, ...span }, start);
    expect(await read({ ...span, after: last })).toEqual([5, 1]);
  });

  test('a review is stored and counted in the hour of the opening; a new review replaces it', async () => {
    const { store, creation } = await withWatch(makeStore);
    const id = creation.run_id;
    const alerts = [newAlert(creation), newAlert(creation)];
    await store.commit(newChange(creation, { alerts: alerts.map((alert) => ({ kind: 'open', alert })) }));
    const [first, second] = alerts as [Alert, Alert];

    expect(await store.review(first.alert_id, review(true), start)).toEqual({
      ...first,
      review: review(true),
    });
    await store.review(second.alert_id, review(true), start);
    await store.review(second.alert_id, review(false), start);

    expect((await store.alert(second.alert_id, start))?.review).toEqual(review(false));
    expect(await store.reviewedHours(id, start, after(86_400))).toEqual([
      { hour: start.toISOString(), condition_id: 'person', correct: 1, wrong: 1, missed: 0 },
    ]);
    expect(await store.reviewedHours(id, after(-86_400), start)).toEqual([]);
    expect(await store.review(randomUUID(), review(true), start)).toBeUndefined();
  });

  test('a review of an open alert survives its closing', async () => {
    const { store, creation } = await withWatch(makeStore);
    const alert = newAlert(creation);
    await store.commit(newChange(creation, { alerts: [{ kind: 'open', alert }] }));
    await store.review(alert.alert_id, review(true), start);
    const closed = {
      at: after(9).toISOString(),
      reason: 'paused' as const,
      explanation: '',
      open_seconds: 9,
      seen_seconds: 9,
      frame_key: null,
    };
    const close = {
      kind: 'close',
      alertId: alert.alert_id,
      closed,
      expiresAt: after(999).toISOString(),
    } as const;
    await store.commit({
      ...newChange(creation, { alerts: [close] }),
      expectedVersion: creation.version + 1,
    });
    expect(await store.alert(alert.alert_id, start)).toMatchObject({ review: review(true), closed });
  });
}
