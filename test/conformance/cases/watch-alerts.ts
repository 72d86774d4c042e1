import type { Case } from '../case.ts';
import { assert, eventually, invalid, refused } from '../expect.ts';
import {
  done,
  needs,
  read,
  readEvents,
  seconds,
  untilState,
  untilStatus,
  watchBody,
  withWatch,
} from '../watches.ts';

/** Cases of the budget, events, destinations and alerts of watches. */

export const watchAlertCases: Case[] = [
  {
    id: 'watch-budget',
    title: 'a used-up budget stops the checks and leaves the alert open',
    covers: ['W-2.9'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api } = target;
      const budget = { model_calls_per_day: 2 };
      await withWatch(target, { budget, enable_prefilter: false }, async (_, path) => {
        const spent = await untilStatus(api, path, 'budget_exhausted');
        assert.ok(spent.state.budget.model_calls <= 2);
        assert.equal(spent.state.conditions[0].state, 'open');
        const reasons = (await readEvents(api, path)).map(({ data }) => data.reason);
        assert.ok(reasons.includes('budget_exhausted'), reasons.join());
      });
    },
  },
  {
    id: 'watch-snooze',
    title: 'no alert opens during a snooze, and its end opens it',
    covers: ['W-3.5'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api, conditions } = target;
      const checks = { checks_to_open: 1, checks_considered: 1 };
      const hidden = [{ condition_id: 'one', condition: conditions.fails, ...checks }];
      await withWatch(target, { conditions: hidden }, async (watch, path) => {
        done(await api.call('POST', `${path}/snooze`, { seconds: 600, condition_id: 'one' }));
        const holding = [{ ...watch.conditions[0], condition: conditions.holds }];
        done(await api.call('PATCH', path, { conditions: holding }));
        done(await api.call('POST', `${path}/snooze`, { seconds: 600 }));
        const clear = await untilState(api, path, 'clear');
        assert.notEqual(clear.state.conditions[0].snoozed_until, null);
        done(await api.call('POST', `${path}/snooze`, { seconds: 0 }));
        await untilState(api, path, 'open');
        const absent = await api.call('POST', `${path}/snooze`, { seconds: 60, condition_id: 'absent' });
        invalid(absent, 'condition_id', 'an unknown condition');
      });
    },
  },
  {
    id: 'watch-event-stream',
    title: 'an event stream of a watch begins with its state, and a position resumes the log',
    covers: ['W-4.3', 'W-4.4', 'W-3.7'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api } = target;
      await withWatch(target, {}, async (watch, path) => {
        await untilState(api, path, 'open');
        const log = await readEvents(api, path);
        const first = async (
          address: string,
          headers: Record<string, string>,
          wanted: (event: any) => boolean,
        ) => {
          const stream = await api.open(address, undefined, headers);
          assert.equal(stream.status, 200);
          for await (const event of stream.events()) if (wanted(event)) return event;
          throw new Error(`${address} ended`);
        };
        const state = await first(`${path}/events`, {}, () => true);
        assert.equal(state.event, 'state');
        assert.ok(JSON.stringify(state.data).includes(watch.watch_id));
        const created = log[0].data.sequence;
        const resumed = await first(
          `${path}/events`,
          { 'Last-Event-ID': String(created) },
          ({ event }) => event === 'alert_opened',
        );
        assert.equal(resumed.data.data.watch_id, watch.watch_id);
        const all = await first(
          '/watches/events',
          {},
          ({ event }) => event === 'progress' || event === 'alert_opened',
        );
        assert.ok(all.data.data.watch_id);
      });
    },
  },
  {
    id: 'watch-stream-lost',
    title: 'a stream that ends is lost without model calls and without an end of the watch',
    covers: ['W-2.6', 'W-2.7'],
    needs: ['own streams', 'decisions'],
    seconds: 100,
    run: async (target) => {
      const { api, streams } = target;
      const stream = await streams.startMortal();
      try {
        await withWatch(target, { stream_url: stream.url }, async (_, path) => {
          await untilState(api, path, 'open');
          await stream.close();
          const lost = await eventually(
            'the stream is lost',
            150,
            () => read(api, path),
            (watch) => (watch.status === 'stream_lost' ? watch : undefined),
          );
          assert.equal(lost.state.conditions[0].state, 'open');
          const event = (await readEvents(api, path)).find(({ type }) => type === 'stream_lost');
          assert.deepEqual(event?.data.open_alerts, [lost.state.conditions[0].alert_id]);
        });
      } finally {
        await stream.close();
      }
    },
  },
  {
    id: 'watch-test-destinations',
    title: 'a test alert reaches each destination and reports the failing one',
    covers: ['W-5.2'],
    needs: ['stream', 'receiver', 'decisions'],
    run: async (target) => {
      const { api, conditions } = target;
      const [good, bad] = [target.receiver.open(), target.receiver.open(() => ({ status: 500 }))];
      const destinations = [
        { destination_id: 'good', type: 'webhook', url: good.url },
        { destination_id: 'bad', type: 'webhook', url: bad.url },
      ];
      const quiet = { conditions: [{ condition: conditions.fails }], destinations };
      await withWatch(target, quiet, async (_, path) => {
        const { body } = done(await api.call('POST', `${path}/test`));
        const results = body.destinations;
        assert.deepEqual(
          results.map((result: any) => [result.destination_id, result.error === null]),
          [
            ['good', true],
            ['bad', false],
          ],
        );
        assert.ok(good.deliveries.length >= 1);
      });
    },
  },
  {
    id: 'watch-ownership',
    title: 'a watch of another caller is unknown, a deleted one too, and a repeated creation makes one',
    covers: ['W-3.6', 'W-3.12', 'W-1.10', 'W-2.10'],
    needs: ['stream', 'second caller', 'decisions'],
    seconds: 10,
    run: async (target) => {
      const { api, other, conditions } = target;
      const body = watchBody(target, { conditions: [{ condition: conditions.fails }], labels: ['mine'] });
      const key = { headers: { 'Idempotency-Key': `watch-${Date.now()}-${Math.random()}` } };
      const first = done(await api.call('POST', '/watches', body, key)).body;
      const path = `/watches/${first.watch_id}`;
      try {
        assert.equal(done(await api.call('POST', '/watches', body, key)).body.watch_id, first.watch_id);
        assert.equal((await api.call('POST', '/watches', { ...body, name: 'Other' }, key)).status, 422);
        for (const [method, address] of [
          ['GET', path],
          ['PATCH', path],
          ['DELETE', path],
          ['POST', `${path}/pause`],
          ['GET', `${path}/stats`],
          ['GET', `${path}/events`],
        ] as const) {
          const answer = await other.call(method, address, method === 'PATCH' ? {} : undefined);
          refused(answer, { status: 404, code: 'WATCH_NOT_FOUND' }, `${method} ${address}`);
        }
        const listed = await read(api, '/watches?label=mine&limit=100');
        assert.ok(listed.watches.some(({ watch_id: id }: { watch_id: string }) => id === first.watch_id));
        assert.equal((await read(api, '/watches?label=absent')).total, 0);
        const { jobs } = await read(api, '/jobs?limit=100');
        assert.ok(!jobs.some(({ job_id: id }: { job_id: string }) => id === first.watch_id));
      } finally {
        done(await api.call('DELETE', path));
      }
      refused(await api.call('GET', path), { status: 404, code: 'WATCH_NOT_FOUND' }, 'a deleted watch');
    },
  },
];
