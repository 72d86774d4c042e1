import { describe, expect, test } from 'vitest';
import type { MomentSpan, MomentStore, WordMatches } from '../../core/ports/moment-store.ts';
import { toMomentId, type Moment, type MomentReview } from '../../core/records/moment.ts';
import type { Watch } from '../../core/records/watch.ts';
import { addSeconds } from '../../core/time.ts';
import type { viewRuns } from '../support/select-runs.ts';
import { after, start } from './records.ts';
import { newChange, newCreation } from './watch-records.ts';

type Stores = ReturnType<typeof viewRuns> & { moments: MomentStore };

export const gate = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const yard = '3f2504e0-4f89-41d3-9a0c-0305e82c3302';

/** Creates a moment of the capture at a second after the start, `before` seconds before its newest frame. */
export function newMoment(second: number, fields: Partial<Moment> = {}, before = 0): Moment {
  const { watch_id = gate } = fields;
  const at = after(second - before);
  return {
    moment_id: toMomentId({ watchId: watch_id, captureAt: after(second), tick: second, at }),
    watch_id,
    caller: 'alice',
    at: at.toISOString(),
    verdicts: [{ condition_id: 'person', triggered: false, explanation: 'The gate is closed' }],
    judged_by: 'objects',
    frame_key: `moments/3/${watch_id}/${second}-a${before}.jpg`,
    expires_at: addSeconds(at, 86_400).toISOString(),
    ...fields,
  };
}

/** Commits captures with their moments, each in a tick of its own. `fields` are those of their watches. */
export async function remember(
  { runs, watches }: Pick<Stores, 'runs' | 'watches'>,
  captures: readonly (readonly Moment[])[],
  fields: Partial<Watch> = {},
): Promise<void> {
  const versions = new Map<string, number>();
  for (const moments of captures) {
    const { watch_id: run_id = gate, caller } = moments[0] ?? {};
    const creation = newCreation({ ...fields, run_id, ...(caller !== undefined && { caller }) });
    if (!versions.has(run_id)) await watches.create(creation, start);
    const version = versions.get(run_id) ?? 0;
    versions.set(run_id, version + 1);
    const change = newChange({ ...creation, version }, { moments });
    expect(await runs.commit(change)).toBe('committed');
    // A tick that is repeated writes nothing.
    if (version === 0) expect(await runs.commit(change)).toBe('outdated');
  }
}

const wordsOf = (...own: string[]) => ({ own, added: [] });
const toIds = ({ matches }: WordMatches) => matches.map(({ moment_id: id }) => id);
const findIds = async (store: MomentStore, searched: MomentSpan, ...stems: string[]) =>
  toIds(await store.words(searched, wordsOf(...stems), 9, now));

const held = [{ condition_id: 'person', triggered: true, explanation: 'A white van at the gate' }];
const captures = [
  [newMoment(10)],
  [newMoment(15, { watch_id: yard, scene: 'An empty yard', objects: ['bench'] })],
  [newMoment(20, {}, 6), newMoment(20, { verdicts: held }, 3), newMoment(20)],
  [newMoment(3600)],
];
const span = {
  caller: 'alice',
  watches: [
    { watchId: gate, from: start },
    { watchId: yard, from: start },
  ],
  to: after(3600),
};
const now = after(4000);
const ids = (moments: readonly Moment[]) => moments.map(({ moment_id: id }) => id);
const newest = [captures[2]?.[2], captures[2]?.[1], captures[1]?.[0], captures[2]?.[0], captures[0]?.[0]];

/** Contract of `MomentStore`. `make` returns a store in which captures were committed. */
export function describeMomentStore(
  name: string,
  make: (all: readonly (readonly Moment[])[]) => Promise<MomentStore>,
): void {
  describe(`${name} as a store of moments`, () => {
    test('moments of several watches are listed in pages, newest first, as they were stored', async () => {
      const store = await make(captures);
      const listed: Moment[] = [];
      for (let next; ;) {
        const page = await store.list({ ...span, limit: 2, after: next }, now);
        listed.push(...page.moments);
        if (page.next === null) break;
        next = page.next;
      }
      expect(listed).toEqual(newest);
      expect(await store.count(span, now)).toBe(5);
    });

    test('a page leaves out no moment of captures that overlap, of any watch', async () => {
      const overlapping = [
        [newMoment(10, {}, 8), newMoment(10)],
        [newMoment(20, {}, 15), newMoment(20)],
        [newMoment(12, { watch_id: yard }, 9), newMoment(12, { watch_id: yard })],
      ];
      const store = await make(overlapping);
      const listed: Moment[] = [];
      for (let next; ;) {
        const page = await store.list({ ...span, limit: 1, after: next }, now);
        listed.push(...page.moments);
        if (page.next === null) break;
        next = page.next;
      }
      const times = overlapping.flat().map(({ at }) => at);
      expect(listed.map(({ at }) => at)).toEqual(times.toSorted().toReversed());
    });

    test('a span that ends before the memory of a watch begins has no moments', async () => {
      const store = await make(captures);
      const watches = [
        { watchId: gate, from: start },
        { watchId: yard, from: after(3000) },
      ];
      const page = await store.list({ ...span, watches, to: after(30), limit: 9 }, now);
      expect(page.moments.every(({ watch_id: id }) => id === gate)).toBe(true);
      expect(await store.count({ ...span, watches, to: after(30) }, now)).toBe(4);
    });

    test('each watch has its own begin', async () => {
      const store = await make(captures);
      const watches = [
        { watchId: gate, from: after(18) },
        { watchId: yard, from: after(16) },
      ];
      const page = await store.list({ ...span, watches, limit: 9 }, now);
      expect(ids(page.moments)).toEqual([captures[2]?.[2]?.moment_id]);
      expect(await store.count({ ...span, watches }, now)).toBe(1);
    });

    test('moments are filtered by condition and verdict', async () => {
      const store = await make(captures);
      const page = await store.list({ ...span, conditionId: 'person', triggered: true, limit: 9 }, now);
      expect(page.moments).toEqual([captures[2]?.[1]]);
      expect((await store.list({ ...span, conditionId: 'car', limit: 9 }, now)).moments).toEqual([]);
      expect((await store.list({ ...span, triggered: null, limit: 9 }, now)).moments).toEqual([]);
    });

    test('words find moments by explanation, scene and objects', async () => {
      const store = await make(captures);
      const found = await store.words(span, { own: ['van'], added: ['bench'] }, 9, now);
      expect(found).toMatchObject({ read: 5, readFrom: null });
      expect(toIds(found)).toEqual([captures[2]?.[1]?.moment_id, captures[1]?.[0]?.moment_id]);
      expect(found.matches[0]?.score).toBeGreaterThan(found.matches[1]?.score ?? 9);
      expect(await findIds(store, span, 'bench')).toHaveLength(1);
      expect(await findIds(store, span, 'lorri')).toEqual([]);
      expect(await findIds(store, span)).toEqual([]);
      const gates = await store.words(span, wordsOf('gate'), 2, now);
      expect(new Set(toIds(gates))).toEqual(new Set(newest.slice(0, 2).map((moment) => moment?.moment_id)));
      expect(gates.readFrom).toBe(newest[1]?.at);
    });

    test('a caller reads and finds no moment of another one', async () => {
      const theirs = newMoment(12, { watch_id: yard, caller: 'ali' });
      const store = await make([...captures.filter((_, index) => index !== 1), [theirs]]);
      const bob = { ...span, caller: 'ali' };
      expect((await store.list({ ...bob, limit: 9 }, now)).moments).toEqual([theirs]);
      expect((await store.list({ ...span, limit: 9 }, now)).moments).not.toContainEqual(theirs);
      expect(await findIds(store, bob, 'gate')).toEqual([theirs.moment_id]);
      expect(await store.count(bob, now)).toBe(1);
      expect(await store.get('alice', theirs.moment_id, now)).toBeUndefined();
      expect(await store.get('ali', theirs.moment_id, now)).toEqual(theirs);
    });

    test('a moment of any place in its capture is read by its id', async () => {
      const store = await make(captures);
      for (const moment of captures.flat())
        expect(await store.get('alice', moment.moment_id, now)).toEqual(moment);
      expect(await store.get('alice', newMoment(11).moment_id, now)).toBeUndefined();
      expect(await store.get('alice', 'a moment', now)).toBeUndefined();
    });

    test('a review is stored in its moment, and replaces an earlier one of its condition', async () => {
      const store = await make(captures);
      const { moment_id: id } = captures[2]?.[1] ?? newMoment(0);
      const review = (fields: Partial<MomentReview> = {}): MomentReview => ({
        condition_id: 'person',
        condition: 'A person is there',
        holds: true,
        missed: true,
        at: now.toISOString(),
        by: 'control room',
        ...fields,
      });
      await store.review('alice', id, review(), now);
      await store.review('alice', id, review({ condition_id: 'van' }), now);
      const last = review({ holds: false, missed: false });
      const reviewed = await store.review('alice', id, last, now);
      expect(reviewed).toEqual({ ...captures[2]?.[1], reviews: [review({ condition_id: 'van' }), last] });
      expect(await store.get('alice', id, now)).toEqual(reviewed);
      expect((await store.list({ ...span, reviewed: true, limit: 9 }, now)).moments).toEqual([reviewed]);
      expect(await findIds(store, span, 'van')).toEqual([id]);
      expect(await store.review('bob', id, last, now)).toBeUndefined();
      expect(await store.review('alice', newMoment(11).moment_id, last, now)).toBeUndefined();
    });

    test('a moment that has expired is in no answer', async () => {
      const store = await make(captures);
      const later = after(20 + 86_400);
      expect((await store.list({ ...span, limit: 9 }, later)).moments).toEqual([]);
      expect(toIds(await store.words(span, wordsOf('gate'), 9, later))).toEqual([]);
      expect(await store.count(span, later)).toBe(0);
      expect(await store.get('alice', newMoment(20).moment_id, later)).toBeUndefined();
    });

    test('a removal before a time returns the keys of the pictures, and leaves other watches', async () => {
      const store = await make(captures);
      const first = await store.remove(gate, after(1000), 1);
      const rest = await store.remove(gate, after(1000), 9);
      expect({ more: [first.more, rest.more], keys: [...first.keys, ...rest.keys].toSorted() }).toEqual({
        more: [true, false],
        keys: [...(captures[0] ?? []), ...(captures[2] ?? [])]
          .map(({ frame_key: key }) => String(key))
          .toSorted(),
      });
      expect((await store.list({ ...span, to: now, limit: 9 }, now)).moments).toEqual([
        captures[3]?.[0],
        captures[1]?.[0],
      ]);
      expect(await findIds(store, span, 'van')).toEqual([]);
      await store.remove(gate, null, 9);
      expect(await store.count({ ...span, to: now }, now)).toBe(1);
    });
  });
}
