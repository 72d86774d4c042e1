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
    // A check stores its moments before it counts what it saw.
    (page) => (page.moments.length >= 3 && page.watched.coverage !== null ? page : undefined),
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

        // A check that looks back adds earlier moments.
        done(await api.call('POST', `/watches/${id}/pause`));
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
        let found = done(await api.call('POST', '/moments/search', query)).body;
        // Beside many checks, a part of 25 s may end without a turn of the model.
        for (let part = 1; found.looked_at === 0 && found.next_cursor && part < 4; part += 1)
          found = done(
            await api.call('POST', '/moments/search', { ...query, cursor: found.next_cursor }),
          ).body;
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
  {
    id: 'moments-ask',
    title: 'a question is answered by moments of the caller, with what nobody saw, and a bad one is refused',
    covers: ['W-7.8', 'W-7.5'],
    needs: [...needs, 'second caller'],
    seconds,
    run: async (target) => {
      const { api, other } = target;
      await withWatch(target, memory, async ({ watch_id: id }) => {
        await untilRemembered(api, id);
        const body = { question: 'Was anything there?', watch_ids: [id] };
        const answer = done(await api.call('POST', '/moments/ask', body)).body;
        assert.ok(answer.answered, answer.answer);
        assert.ok(answer.model_calls <= 1 && answer.pictures <= 24 && answer.sentence !== '');
        const shown = answer.statements.flatMap(({ moments }: { moments: any[] }) => moments);
        assert.ok(shown.length > 0);
        for (const moment of shown)
          assert.deepEqual(await read(api, `/moments/${moment.moment_id}`), { ...moment, watch_id: id });
        const isGone = { status: 404, code: 'WATCH_NOT_FOUND' };
        refused(await other.call('POST', '/moments/ask', body), isGone, 'a watch of another caller');
        const ask = (fields: object) => api.call('POST', '/moments/ask', { ...body, ...fields });
        const isBad = { status: 400, code: 'BAD_REQUEST' };
        refused(await ask({ question: ' '.repeat(500) }), isBad, 'spaces');
        refused(await ask({ from: '2100-01-01T00:00:00Z', to: '1900-01-01T00:00:00Z' }), isBad, 'a span');
        invalid(await ask({ question: 'x'.repeat(501) }), 'question', 'a long question');
      });
    },
  },
  {
    id: 'watches-backtest',
    title:
      'a backtest opens the alerts that the watch opened, and tries another condition with what it costs',
    covers: ['W-7.9'],
    needs: [...needs, 'second caller'],
    seconds,
    run: async (target) => {
      const { api, other, conditions } = target;
      await withWatch(target, memory, async ({ watch_id: id }, path) => {
        // The model may judge all pictures of one check in one call.
        await eventually(
          'three checks',
          90,
          () => read(api, path),
          ({ state }) => state.last_check >= 3,
        );
        done(await api.call('POST', `${path}/pause`));
        const span = { to: new Date().toISOString() };
        const backtest = async (body: object) =>
          done(await api.call('POST', `${path}/backtest`, { ...span, ...body })).body;
        const own = await backtest({});
        assert.deepEqual([own.next_cursor, own.model_calls], [null, 0]);
        const live = (await read(api, `/alerts?watch_id=${id}`)).alerts;
        assert.equal(own.alerts.length, live.length, own.sentence);

        const tried = { conditions: [{ condition_id: 'two', condition: conditions.fails }] };
        const estimate = await backtest({ ...tried, estimate: true });
        assert.deepEqual([estimate.model_calls, estimate.moments, estimate.alerts], [0, 0, []]);
        assert.ok(estimate.estimate.model_calls > 0);
        const begun = await backtest({ ...tried, max_calls: 1 });
        assert.deepEqual([begun.stopped, begun.model_calls], ['calls', 1]);
        const rest = await backtest({ ...tried, cursor: begun.next_cursor });
        assert.deepEqual([rest.next_cursor, rest.alerts], [null, []]);
        assert.equal(rest.model_calls, estimate.estimate.model_calls);

        const bad = (body: object) => api.call('POST', `${path}/backtest`, { ...span, ...body });
        const isBad = { status: 400, code: 'BAD_REQUEST' };
        refused(await bad({ cursor: begun.next_cursor }), isBad, 'a cursor of another condition');
        refused(await bad({ from: '2100-01-01T00:00:00Z' }), isBad, 'an end before the begin');
        invalid(await bad({ conditions: [] }), 'conditions', 'no condition');
        const isGone = { status: 404, code: 'WATCH_NOT_FOUND' };
        refused(await other.call('POST', `${path}/backtest`, {}), isGone, 'a watch of another caller');
      });
    },
  },
  {
    id: 'moments-review',
    title: 'a missed moment is listed as reviewed and lowers recall, and a bad review is refused',
    covers: ['W-7.10'],
    needs: [...needs, 'second caller'],
    seconds,
    run: async (target) => {
      const { api, other, conditions } = target;
      const rules = [conditions.holds, conditions.fails];
      const fields = {
        ...memory,
        conditions: rules.map((condition, index) => ({ condition_id: `c${index}`, condition })),
      };
      await withWatch(target, fields, async ({ watch_id: id }, path) => {
        const { moments } = await untilRemembered(api, id);
        const address = `/moments/${moments[0].moment_id}/review`;
        const missed = { condition_id: 'c1', holds: true };
        const reviewed = done(await api.call('POST', address, missed)).body;
        assert.partialDeepStrictEqual(reviewed.reviews, [{ ...missed, missed: true }]);
        const listed = await read(api, `/moments?watch_id=${id}&reviewed=true`);
        assert.deepEqual(listed.moments, [reviewed]);
        const countMissed = async () =>
          (await read(api, `${path}/stats`)).precision.find(
            ({ condition_id: each }: { condition_id: string }) => each === 'c1',
          )?.missed ?? 0;
        assert.equal(await countMissed(), 1);
        done(await api.call('POST', address, { ...missed, holds: false }));
        assert.equal(await countMissed(), 0);

        const isBad = { status: 400, code: 'BAD_REQUEST' };
        refused(await api.call('POST', address, { ...missed, condition_id: 'none' }), isBad, 'a condition');
        invalid(await api.call('POST', address, { condition_id: 'c1' }), 'holds', 'no judgement');
        const isGone = { status: 404, code: 'NOT_FOUND' };
        refused(await other.call('POST', address, missed), isGone, 'a moment of another caller');
      });
    },
  },
];
