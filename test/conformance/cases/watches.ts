import type { Case } from '../case.ts';
import { assert, eventually, invalid, refused } from '../expect.ts';
import { unknownJobId } from '../jobs.ts';
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

/** Cases of watches, which are an addition of this project to the interface. */

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
            alert_on: 'each_visit',
            checks_to_open: 2,
            checks_considered: 3,
            checks_to_close: 2,
            close_after_seconds: 4,
            open_after_seconds: 0,
            cooldown_seconds: 0,
            remind_seconds: null,
            severity: 'warning',
            sensitivity: 'normal',
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
      const wrong: [string, Record<string, unknown>][] = [
        ['name', { name: '' }],
        ['name', { name: 'x'.repeat(121) }],
        ['interval_seconds', { interval_seconds: 4 }],
        ['confirm_seconds', { confirm_seconds: 6 }],
        ['conditions', { conditions: [] }],
        ['conditions', { conditions: Array.from({ length: 9 }, () => condition) }],
        ['checks_to_open', { conditions: [{ ...condition, checks_to_open: 4, checks_considered: 3 }] }],
        ['remind_seconds', { conditions: [{ ...condition, remind_seconds: 59 }] }],
        ['open_after_seconds', { conditions: [{ ...condition, open_after_seconds: 86_401 }] }],
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
    id: 'watch-one-machine',
    title:
      'a field that needs the service on one machine is served, or a 422 that names it and stores nothing',
    covers: ['W-1.6'],
    needs: [...needs],
    run: async (target) => {
      const { api } = target;
      const broker = { type: 'mqtt', url: 'mqtt://broker.example' };
      const fields: [string, string, Record<string, unknown>][] = [
        ['follow', 'follow', { follow: true }],
        ['destinations', 'url', { destinations: [broker] }],
      ];
      await withWatch(target, {}, async (watch, path) => {
        for (const [field, named, change] of fields) {
          const created = await api.call('POST', '/watches', watchBody(target, change));
          if (created.status === 200) {
            await api.call('DELETE', `/watches/${created.body.watch_id}`);
            assert.notDeepEqual(done(await api.call('PATCH', path, change)).body[field], watch[field]);
            continue;
          }
          const { msg } = invalid(created, named, field);
          assert.match(msg, /one machine/, field);
          invalid(await api.call('PATCH', path, change), named, `change of ${field}`);
          assert.deepEqual((await read(api, path))[field], watch[field]);
        }
      });
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
      await withWatch(
        target,
        { destinations, labels: ['gate'], evidence_clip: null },
        async (watch, path) => {
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
        },
      );
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
];
