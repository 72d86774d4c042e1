import type { Api } from '../api.ts';
import type { Case } from '../case.ts';
import { assert, eventually, invalid, refused } from '../expect.ts';
import { done, needs, read, seconds, withWatch } from '../watches.ts';

/** Cases of the memory of watches. */

/** Waits until a watch remembers some pictures. */
function untilRemembered(api: Api, watchId: string): Promise<any> {
  return eventually(
    'the watch remembers three moments',
    90,
    () => read(api, `/moments?watch_id=${watchId}`),
    (page) => (page.moments.length >= 3 ? page : undefined),
  );
}

const memory = { memory_days: 1, enable_prefilter: false };

export const momentCases: Case[] = [
  {
    id: 'moments-list',
    title: 'moments are listed newest first, in pages and by verdict, beside how much of the span was seen',
    covers: ['W-7.1', 'W-7.2'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api } = target;
      await withWatch(target, memory, async ({ watch_id: id }) => {
        const { moments, watched } = await untilRemembered(api, id);
        const times = moments.map(({ at }: { at: string }) => at);
        assert.deepEqual(times, times.toSorted().toReversed());
        const { judged_seconds: judged, quiet_seconds: quiet, between_seconds: between } = watched;
        const all = judged + quiet + between + watched.not_seen_seconds;
        assert.ok(all > 0 && all <= (Date.parse(watched.to) - Date.parse(watched.from)) / 1000 + 1);
        assert.ok(Math.abs(watched.coverage - (all - watched.not_seen_seconds) / all) < 0.001);

        const to = encodeURIComponent(times[0]);
        const whole = await read(api, `/moments?watch_id=${id}&to=${to}`);
        const first = await read(api, `/moments?watch_id=${id}&to=${to}&limit=1`);
        const rest = await read(api, `/moments?watch_id=${id}&to=${to}&after=${first.next_after}`);
        assert.deepEqual([...first.moments, ...rest.moments], whole.moments);
        assert.equal(rest.watched, null);
        const held = await read(api, `/moments?watch_id=${id}&condition_id=one&verdict=held`);
        assert.ok(held.moments.length > 0);
        assert.deepEqual((await read(api, `/moments?watch_id=${id}&verdict=not_judged`)).moments, []);

        const [newest] = moments;
        assert.deepEqual(await read(api, `/moments/${newest.moment_id}`), newest);
        const picture = await api.call('GET', `/moments/${newest.moment_id}/picture`);
        assert.equal(picture.headers.get('content-type'), 'image/jpeg');
      });
    },
  },
  {
    id: 'moments-search',
    title: 'a search finds a visit with its picture, continues by its cursor, and says what it has checked',
    covers: ['W-7.3', 'W-7.4'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api, conditions } = target;
      await withWatch(target, memory, async ({ watch_id: id }) => {
        await untilRemembered(api, id);
        const query = { query: conditions.holds, watch_ids: [id], thorough: true };
        const found = done(await api.call('POST', '/moments/search', query)).body;
        assert.ok(found.looked_at > 0, found.sentence);
        for (const { moment, matched } of found.results)
          assert.deepEqual([moment.watch_id, matched === false], [id, false]);
        const estimate = done(await api.call('POST', '/moments/search', { ...query, max_calls: 0 })).body;
        assert.deepEqual([estimate.model_calls, estimate.results], [0, []]);
        assert.match(estimate.sentence, /^Nothing found yet: /);
        const cursor = estimate.next_cursor;
        assert.ok(done(await api.call('POST', '/moments/search', { ...query, cursor })).body.looked_at > 0);
        const other = { ...query, query: 'a zebra', cursor };
        refused(
          await api.call('POST', '/moments/search', other),
          { status: 400, code: 'BAD_REQUEST' },
          'a cursor of another search',
        );
      });
    },
  },
  {
    id: 'moments-of-another',
    title: 'nobody reads or finds moments of another caller, and none after the end of their memory',
    covers: ['W-7.5', 'W-7.6'],
    needs: [...needs, 'second caller'],
    seconds,
    run: async (target) => {
      const { api, other } = target;
      await withWatch(target, memory, async ({ watch_id: id }, path) => {
        const { moments } = await untilRemembered(api, id);
        const moment = `/moments/${moments[0].moment_id}`;
        const cursor = done(
          await api.call('POST', '/moments/search', { query: 'a van', thorough: true, max_calls: 0 }),
        ).body.next_cursor;
        for (const each of [moment, `${moment}/picture`])
          refused(await other.call('GET', each), { status: 404, code: 'NOT_FOUND' }, each);
        const isGone = { status: 404, code: 'WATCH_NOT_FOUND' };
        refused(await other.call('GET', `/moments?watch_id=${id}`), isGone, 'a list');
        const search = (body: object) => other.call('POST', '/moments/search', { query: 'a van', ...body });
        refused(await search({ watch_ids: [id] }), isGone, 'a search');
        refused(await search({ thorough: true, cursor }), { status: 400 }, 'a cursor');
        const { moments: theirs } = await read(other, `/moments?after=${moments[0].moment_id}`);
        assert.ok(theirs.every((each: { watch_id: string }) => each.watch_id !== id));
        done(await api.call('PATCH', path, { memory_days: 0 }));
        refused(await api.call('GET', moment), { status: 404, code: 'NOT_FOUND' }, 'a forgotten moment');
        assert.deepEqual((await read(api, `/moments?watch_id=${id}`)).moments, []);
      });
    },
  },
  {
    id: 'moments-bad-input',
    title: 'a bad list or search of moments is refused with its reason, and syntax of a query is no syntax',
    covers: ['W-7.7'],
    run: async ({ api }) => {
      const span = 'from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z';
      refused(
        await api.call('GET', `/moments?${span}`),
        { status: 400, code: 'BAD_REQUEST' },
        'an end before the begin',
      );
      invalid(await api.call('GET', '/moments?after=x'), 'after', 'a cursor');
      invalid(await api.call('GET', '/moments?limit=0'), 'limit', 'a limit');
      refused(await api.call('GET', '/moments/x'), { status: 404, code: 'NOT_FOUND' }, 'an unknown id');
      const search = (body: object) => api.call('POST', '/moments/search', { max_calls: 0, ...body });
      refused(await search({ query: ' '.repeat(500) }), { status: 400, code: 'BAD_REQUEST' }, 'spaces');
      invalid(await search({ query: 'x'.repeat(501) }), 'query', 'a long query');
      refused(await search({ query: 'x', cursor: 'x' }), { status: 400, code: 'BAD_REQUEST' }, 'a cursor');
      const century = { from: '1900-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
      for (const query of ['" * NEAR(van) -white', '*', "'; DROP TABLE moments; --"])
        done(await search({ query, ...century }));
    },
  },
];
