import { describe, expect, test } from 'vitest';
import type { Moment } from '../../../core/records/moment.ts';
import { createMemoryMoments } from './memory-moments.ts';
import { watchId } from './watch-records.ts';

const from = new Date('2026-03-01T12:00:00Z');
const to = new Date('2026-03-01T13:00:00Z');
const now = new Date('2026-03-01T14:00:00Z');
const span = { caller: 'alice', watches: [{ watchId, from }], to };

function newMoment(minute: number, fields: Partial<Moment> = {}): Moment {
  return {
    moment_id: `moment-${minute}`,
    watch_id: watchId,
    caller: 'alice',
    at: new Date(from.getTime() + minute * 60_000).toISOString(),
    verdicts: [{ condition_id: 'person', triggered: minute % 2 === 0, explanation: 'A person at the gate' }],
    judged_by: 'objects',
    frame_key: `moments/3/${watchId}/${minute}-a.jpg`,
    expires_at: '2026-03-04T12:00:00.000Z',
    ...fields,
  };
}

const stored = () => createMemoryMoments([newMoment(1), newMoment(2), newMoment(3), newMoment(60)]);
const ids = (moments: readonly Moment[]) => moments.map(({ moment_id: id }) => id);

describe('moments in memory', () => {
  test('moments are listed in pages, newest first', async () => {
    const moments = stored();
    const first = await moments.list({ ...span, limit: 2 }, now);
    expect(ids(first.moments)).toEqual(['moment-3', 'moment-2']);
    const rest = await moments.list({ ...span, limit: 2, after: first.next ?? undefined }, now);
    expect(ids(rest.moments)).toEqual(['moment-1']);
    expect(rest.next).toBeNull();
    expect(await moments.count(span, now)).toBe(3);
  });

  test('moments are filtered by condition and verdict', async () => {
    const held = await stored().list({ ...span, conditionId: 'person', triggered: true, limit: 9 }, now);
    expect(ids(held.moments)).toEqual(['moment-2']);
    const others = await stored().list({ ...span, conditionId: 'car', limit: 9 }, now);
    expect(others.moments).toEqual([]);
  });

  test('moments are found by their words', async () => {
    const moments = createMemoryMoments([newMoment(1), newMoment(2, { scene: 'A white van' })]);
    const { moments: found, ...rest } = await moments.words(span, ['van', 'lorry'], 9, now);
    expect(ids(found)).toEqual(['moment-2']);
    expect(rest).toEqual({ read: 2, readAll: true });
  });

  test('a caller reads his own moments until they expire', async () => {
    const moments = stored();
    expect(await moments.count({ ...span, caller: 'bob' }, now)).toBe(0);
    expect(await moments.get('bob', 'moment-1', now)).toBeUndefined();
    expect(await moments.get('alice', 'moment-1', now)).toEqual(newMoment(1));
    const later = new Date('2026-03-05T12:00:00Z');
    expect(await moments.count(span, later)).toBe(0);
    expect(await moments.get('alice', 'moment-1', later)).toBeUndefined();
  });

  test('a removal before a time returns the keys of the pictures', async () => {
    const moments = stored();
    const before = new Date(from.getTime() + 150_000);
    const first = await moments.remove(watchId, before, 1);
    expect(first.more).toBe(true);
    expect(first.keys).toHaveLength(1);
    expect(await moments.remove(watchId, before, 9)).toMatchObject({ more: false });
    expect(await moments.count(span, now)).toBe(1);
    await moments.remove(watchId, null, 9);
    expect(moments.stored).toEqual([]);
  });
});
