import type { Answer, Api } from '../api.ts';
import type { Case, Target } from '../case.ts';
import { assert, eventually, excerpt, invalid, refused } from '../expect.ts';
import { unknownJobId } from '../jobs.ts';

/** Cases of watches and alerts, which are an addition of this project to the interface. */

type Body = Record<string, unknown>;

/** Returns a watch that opens at its first check by default. */
function watchBody({ streams, conditions }: Target, fields: Body = {}): Body {
  const checks = { checks_to_open: 1, checks_considered: 1, checks_to_close: 1 };
  return {
    name: 'Conformance',
    stream_url: streams.live,
    interval_seconds: 5,
    conditions: [{ condition_id: 'one', condition: conditions.holds, ...checks }],
    ...fields,
  };
}

/** Creates a watch, and deletes it at the end of the case. */
async function withWatch(
  target: Target,
  fields: Body,
  run: (watch: any, path: string) => Promise<void>,
): Promise<void> {
  const { api } = target;
  const { body: watch } = done(await api.call('POST', '/watches', watchBody(target, fields)));
  try {
    await run(watch, `/watches/${watch.watch_id}`);
  } finally {
    await api.call('DELETE', `/watches/${watch.watch_id}`);
  }
}

function done(answer: Answer): Answer {
  assert.equal(answer.status, 200, excerpt(answer.text));
  return answer;
}

async function read(api: Api, path: string): Promise<any> {
  return done(await api.call('GET', path)).body;
}

/** Waits until the first condition of a watch has a state. */
function untilState(api: Api, path: string, state: string): Promise<any> {
  return eventually(
    `the condition is ${state}`,
    60,
    () => read(api, path),
    (watch) => (watch.state.conditions[0].state === state ? watch : undefined),
  );
}

function untilStatus(api: Api, path: string, status: string): Promise<any> {
  return eventually(
    `the watch is ${status}`,
    60,
    () => read(api, path),
    (watch) => (watch.status === status ? watch : undefined),
  );
}

/** Returns the events of a log without `progress`. */
async function readEvents(api: Api, path: string): Promise<any[]> {
  const { events } = await read(api, `${path}/events?limit=1000`);
  return events.filter(({ type }: { type: string }) => type !== 'progress');
}

const seconds = 25;
const needs = ['stream', 'decisions'] as const;

export const watchCases: Case[] = [
  {
    id: 'watch-defaults',
    title: 'a watch has the documented defaults, ids made of its conditions, and an entity tag',
    covers: ['W-1.1', 'W-1.2', 'W-1.3', 'W-1.4', 'W-1.5', 'W-3.1'],
    needs: [...needs],
    run: async (target) => {
      const bare = { interval_seconds: undefined, conditions: [{ condition: 'A cat is on the roof' }] };
      await withWatch(target, { ...bare, labels: ['a'] }, async (watch, path) => {
        const { interval_seconds, input_mode, confirm_seconds, retention_days, labels } = watch;
        assert.deepEqual(
          [interval_seconds, input_mode, confirm_seconds, retention_days, labels],
          [10, 'frames', 2, 7, ['a']],
        );
        assert.deepEqual(
          [watch.schedule, watch.budget, watch.regions, watch.destinations],
          [null, null, null, []],
        );
        assert.deepEqual(watch.conditions, [
          {
            condition_id: 'a-cat-is-on-the-roof',
            condition: 'A cat is on the roof',
            checks_to_open: 2,
            checks_considered: 3,
            checks_to_close: 3,
            cooldown_seconds: 0,
            remind_seconds: null,
            severity: 'warning',
          },
        ]);
        const answer = done(await target.api.call('GET', path));
        assert.equal(answer.headers.get('etag'), `"${answer.body.config_version}"`);
      });
    },
  },
  {
    id: 'watch-limits',
    title: 'a field of a watch beyond its limits is a 422 that names it',
    covers: ['W-1.6', 'W-1.7', 'W-1.8'],
    needs: [...needs],
    run: async (target) => {
      const span = { days: ['mon'], from: '08:00', to: '18:00' };
      const condition = { condition: 'x' };
      const wrong: [string, Body][] = [
        ['name', { name: '' }],
        ['name', { name: 'x'.repeat(121) }],
        ['interval_seconds', { interval_seconds: 4 }],
        ['confirm_seconds', { confirm_seconds: 6 }],
        ['conditions', { conditions: [] }],
        ['conditions', { conditions: Array.from({ length: 9 }, () => condition) }],
        ['checks_to_open', { conditions: [{ ...condition, checks_to_open: 4, checks_considered: 3 }] }],
        ['remind_seconds', { conditions: [{ ...condition, remind_seconds: 59 }] }],
        ['cooldown_seconds', { conditions: [{ ...condition, cooldown_seconds: 86_401 }] }],
        ['time_zone', { schedule: { time_zone: 'Mars/Base', active: [span] } }],
        ['to', { schedule: { time_zone: 'UTC', active: [{ ...span, to: '08:00' }] } }],
        ['budget', { budget: {} }],
        [
          'regions',
          {
            regions: [
              {
                mode: 'exclude',
                points: [
                  [0, 0],
                  [1, 0],
                  [1, 1],
                  [0, 1],
                ],
              },
            ],
          },
        ],
        [
          'points',
          {
            regions: [
              {
                mode: 'include',
                points: [
                  [0, 0],
                  [2, 0],
                  [1, 1],
                ],
              },
            ],
          },
        ],
        ['retention_days', { retention_days: 91 }],
        ['labels', { labels: Array.from({ length: 9 }, (_, at) => `${at}`) }],
        ['routing_key', { destinations: [{ type: 'pagerduty' }] }],
        [
          'destinations',
          { destinations: Array.from({ length: 6 }, () => ({ type: 'slack', url: 'https://a.example' })) },
        ],
      ];
      for (const [field, fields] of wrong) {
        const answer = await target.api.call('POST', '/watches', watchBody(target, fields));
        invalid(answer, field, `${field}: ${JSON.stringify(fields).slice(0, 80)}`);
      }
    },
  },
  {
    id: 'watch-opens-and-closes',
    title: 'an alert opens once while its condition holds, and a pause closes it with its reason',
    covers: ['W-2.1', 'W-2.2', 'W-2.10', 'W-4.1', 'W-4.2', 'W-4.5', 'W-5.1'],
    needs: ['stream', 'receiver', 'decisions'],
    seconds,
    run: async (target) => {
      const { api } = target;
      const inbox = target.receiver.open();
      const destinations = [{ destination_id: 'own', type: 'webhook', url: inbox.url }];
      await withWatch(target, { destinations, labels: ['gate'] }, async (watch, path) => {
        assert.ok(!JSON.stringify(watch).includes(inbox.url), 'the response has the address');
        assert.match(watch.destinations[0].fingerprint, /^[0-9a-f]+$/);
        const open = await untilState(api, path, 'open');
        const alertId = open.state.conditions[0].alert_id;
        // Two more checks open no second alert.
        await eventually(
          'two more checks',
          40,
          () => read(api, path),
          ({ state }) => state.last_check >= open.state.last_check + 2,
        );
        assert.equal(done(await api.call('POST', `${path}/pause`)).body.status, 'paused');
        const events = await readEvents(api, path);
        const types = events.map(({ type }) => type).filter((type) => type.startsWith('alert_'));
        assert.deepEqual(types, ['alert_opened', 'alert_closed']);
        for (const event of events)
          assert.deepEqual(
            [event.data.watch_id, event.data.watch_name, event.data.labels],
            [watch.watch_id, 'Conformance', ['gate']],
          );
        const numbers = events.map(({ data }) => data.sequence);
        assert.deepEqual(
          numbers,
          numbers.toSorted((a, b) => a - b),
        );
        const [opened, closed] = events
          .filter(({ type }) => type.startsWith('alert_'))
          .map(({ data }) => data);
        assert.deepEqual(
          [opened.alert_id, opened.condition_id, opened.severity],
          [alertId, 'one', 'warning'],
        );
        assert.ok(opened.checks.every(({ triggered }: { triggered: boolean }) => triggered));
        assert.deepEqual([closed.alert_id, closed.reason], [alertId, 'paused']);
        const arrived = await inbox.until((deliveries) => {
          const alerts = deliveries.filter(({ body }) => body?.type?.startsWith('alert_'));
          return alerts.some(({ body }) => body.type === 'alert_closed') && alerts;
        }, 60);
        assert.deepEqual(
          arrived.map(({ body }) => body.type),
          ['alert_opened', 'alert_closed'],
        );
        assert.ok(arrived.every(({ headers }) => headers['webhook-signature'] !== undefined));
        assert.equal(
          done(await api.call('POST', `${path}/resume`)).body.state.conditions[0].state,
          'unknown',
        );
        await untilState(api, path, 'open');
      });
    },
  },
  {
    id: 'watch-alerts',
    title: 'alerts are listed, read with their frame, acknowledged and reviewed, and the review is a number',
    covers: ['W-2.5', 'W-3.9', 'W-3.10', 'W-3.11', 'W-3.8'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api } = target;
      await withWatch(target, {}, async (watch, path) => {
        const open = await untilState(api, path, 'open');
        const alertId = open.state.conditions[0].alert_id;
        const list = async (query: string) =>
          (await read(api, `/alerts?watch_id=${watch.watch_id}&${query}`)).alerts.map(
            (alert: any) => alert.alert_id,
          );
        assert.deepEqual(await list('state=open'), [alertId]);
        assert.deepEqual(await list('state=closed'), []);
        const frame = done(await api.call('GET', `/alerts/${alertId}/frame`));
        assert.equal(frame.headers.get('content-type'), 'image/jpeg');
        const acknowledged = done(await api.call('POST', `/alerts/${alertId}/acknowledge`)).body;
        assert.notEqual(acknowledged.acknowledged, null);
        assert.equal(acknowledged.state, 'open');
        assert.ok((await readEvents(api, path)).some(({ type }) => type === 'alert_acknowledged'));
        const review = { correct: false, note: 'A cat' };
        const reviewed = done(await api.call('POST', `/alerts/${alertId}/review`, review)).body;
        assert.deepEqual(
          [reviewed.review.correct, reviewed.review.note, reviewed.state],
          [false, 'A cat', 'open'],
        );
        const stats = await read(api, `${path}/stats`);
        assert.deepEqual(
          [stats.precision[0].reviewed, stats.precision[0].precision, stats.total.alerts_opened],
          [1, 0, 1],
        );
        assert.ok(stats.total.checks >= 1 && stats.days.length >= 1 && stats.hours.length >= 1);
        refused(await api.call('GET', `/alerts/${unknownJobId}`), { status: 404 }, 'an unknown alert');
        refused(await api.call('GET', `/watches/${unknownJobId}`), { status: 404 }, 'an unknown watch');
      });
    },
  },
  {
    id: 'watch-change',
    title: 'a change is a merge patch guarded by If-Match, and another text of a condition closes its alert',
    covers: ['W-3.2', 'W-3.3', 'W-3.4', 'W-1.9'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api, conditions } = target;
      const destinations = [
        { destination_id: 'team', type: 'slack', url: 'https://hooks.slack.com/services/T1/secret' },
      ];
      await withWatch(target, { destinations }, async (watch, path) => {
        const version = (number: number) => ({ headers: { 'If-Match': `"${number}"` } });
        const outdated = await api.call('PATCH', path, { name: 'Other' }, version(watch.config_version + 7));
        refused(outdated, { status: 412, code: 'PRECONDITION_FAILED' }, 'another version');
        await untilState(api, path, 'open');
        const numbers = [{ ...watch.conditions[0], checks_to_close: 5 }];
        const renamed = await api.call(
          'PATCH',
          path,
          { name: 'Renamed', conditions: numbers, destinations: watch.destinations },
          version(watch.config_version),
        );
        const after = done(renamed).body;
        assert.deepEqual(
          [after.name, after.interval_seconds, after.state.conditions[0].state],
          ['Renamed', 5, 'open'],
        );
        assert.equal(after.config_version, watch.config_version + 1);
        assert.equal(after.destinations[0].fingerprint, watch.destinations[0].fingerprint);
        const text = [{ ...numbers[0], condition: conditions.fails }];
        const changed = done(await api.call('PATCH', path, { conditions: text })).body;
        assert.equal(changed.state.conditions[0].state, 'unknown');
        const closed = (await readEvents(api, path)).find(({ type }) => type === 'alert_closed');
        assert.equal(closed?.data.reason, 'changed');
        await untilState(api, path, 'clear');
      });
    },
  },
  {
    id: 'watch-several-conditions',
    title: 'several conditions of one capture have verdicts of their own',
    covers: ['W-6.1', 'W-2.3'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api, conditions } = target;
      const checks = { checks_to_open: 1, checks_considered: 1 };
      const both = [
        { condition_id: 'no', condition: conditions.fails, ...checks },
        { condition_id: 'yes', condition: conditions.holds, ...checks },
      ];
      await withWatch(target, { conditions: both }, async (_, path) => {
        const states = await eventually(
          'both conditions have a verdict',
          60,
          async () => (await read(api, path)).state.conditions.map(({ state }: { state: string }) => state),
          (found: string[]) => !found.includes('unknown') && found,
        );
        assert.deepEqual(states, ['clear', 'open']);
        const { body } = done(await api.call('POST', `${path}/preview`));
        assert.deepEqual(
          body.verdicts.map((verdict: any) => [verdict.condition_id, verdict.triggered]),
          [
            ['no', false],
            ['yes', true],
          ],
        );
        assert.ok(body.frame_b64.length > 1000);
      });
    },
  },
  {
    id: 'watch-schedule',
    title: 'a watch outside of its schedule checks nothing and begins after a change of the schedule',
    covers: ['W-2.6', 'W-2.8'],
    needs: [...needs],
    seconds,
    run: async (target) => {
      const { api } = target;
      const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
      const otherDay = days[(new Date().getUTCDay() + 3) % 7];
      const schedule = { time_zone: 'UTC', active: [{ days: [otherDay], from: '00:00', to: '24:00' }] };
      await withWatch(target, { schedule }, async (_, path) => {
        const off = await untilStatus(api, path, 'off_schedule');
        assert.equal(off.state.causes.off_schedule.reason, 'schedule');
        assert.equal(off.state.conditions[0].state, 'unknown');
        done(await api.call('PATCH', path, { schedule: null }));
        const open = await untilState(api, path, 'open');
        assert.equal(open.status, 'active');
        done(await api.call('PATCH', path, { schedule }));
        await untilStatus(api, path, 'off_schedule');
        const closed = (await readEvents(api, path)).findLast(({ type }) => type === 'alert_closed');
        assert.equal(closed?.data.reason, 'off_schedule');
      });
    },
  },
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
