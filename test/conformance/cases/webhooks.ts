import { setTimeout as sleep } from 'node:timers/promises';
import type { Case, Target } from '../case.ts';
import { assert, eventually, excerpt, ok, shaped } from '../expect.ts';
import { cancel, createMonitor, monitorBody, readJob } from '../jobs.ts';
import {
  errorEnvelope,
  jobCreated,
  metrics,
  stoppedData,
  triggeredData,
  webhookEnvelope,
} from '../shapes.ts';
import type { Delivery, Inbox } from '../sources/receiver.ts';

/** Cases of webhook delivery (section 6.1). */

const untilStopped = (inbox: Inbox, withinSeconds: number) =>
  inbox.until(function jobStopped(deliveries) {
    return deliveries.find(({ body, status }) => body?.type === 'job_stopped' && status < 300);
  }, withinSeconds);

/** Waits until an event of the type has been sent `count` times. */
const untilAttempts = (inbox: Inbox, type: string, count: number, withinSeconds: number) =>
  inbox.until((all) => all.filter(({ body }) => body?.type === type).length >= count, withinSeconds);

export const webhookCases: Case[] = [
  {
    id: 'webhook-flow',
    title:
      'webhook mode immediately returns the job and sends job_started, watch_triggered and job_stopped in order',
    covers: [
      'I-1.15',
      'I-4.2.10',
      'I-4.2.3',
      'I-2.2.1',
      'I-6.1.1',
      'I-6.1.2',
      'I-6.1.6',
      'I-6.1.7',
      'I-6.1.8',
      'I-6.1.11',
      'I-6.3.1',
      'I-6.3.2',
      'I-6.3.4',
      'I-3.5',
      'I-1.7',
    ],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const inbox = target.receiver.open();
      const fields = { webhook_url: inbox.url, condition: target.conditions.holds };
      const answer = await target.api.call('POST', '/live-monitor', monitorBody(target, fields));
      const { job_id: jobId, status } = ok(answer, jobCreated, 'POST /live-monitor');
      assert.equal(status, 'pending');
      await untilStopped(inbox, 60);
      const events = inbox.accepted().map((event) => shaped(webhookEnvelope, event, 'webhook'));
      assert.deepEqual(
        events.map(({ type }) => type),
        ['job_started', 'watch_triggered', 'job_stopped'],
      );
      for (const { source_url: url, data } of events) {
        assert.equal(url, target.streams.live);
        assert.ok(data['job_id'] === undefined || data['job_id'] === jobId);
      }
      const alert = shaped(triggeredData, events[1]?.data, 'data of watch_triggered');
      assert.equal(alert.condition, target.conditions.holds);
      const end = shaped(stoppedData, events[2]?.data, 'data of job_stopped');
      assert.equal(end.job_id, jobId);
      assert.deepEqual(
        [end.status, end.reason, end.triggers_fired, end.auto_stopped],
        ['completed', 'condition_triggered', 1, false],
      );
      for (const { method, headers } of inbox.deliveries) {
        assert.equal(method, 'POST');
        assert.match(headers['content-type'] ?? '', /^application\/json/);
      }
      assertAscending(events.map(({ timestamp }) => Date.parse(timestamp)));
    },
  },
  {
    id: 'webhook-details',
    title: 'every event has job_id, sequence and Standard Webhooks headers, and job_started has the config',
    covers: ['I-6.1.1', 'I-6.1.6', 'I-5.9'],
    needs: ['stream', 'receiver', 'decisions'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const inbox = target.receiver.open();
      const fields = { webhook_url: inbox.url, condition: target.conditions.holds };
      const jobId = await createMonitor(target, fields);
      await untilStopped(inbox, 60);
      const [started] = inbox.accepted();
      assert.equal(started.data.job_type, 'live-monitor');
      assert.equal(started.data.config.interval_seconds, 5);
      assert.ok(started.data.events_url.endsWith(`/jobs/${jobId}/events`), started.data.events_url);
      const sequences = inbox.accepted().map(({ data }) => data.sequence);
      assertAscending(sequences);
      for (const { body, headers } of inbox.deliveries) {
        assert.equal(body.data.job_id, jobId);
        assert.match(String(headers['webhook-id']), new RegExp(`${jobId}.*${body.data.sequence}`));
        assert.match(String(headers['webhook-timestamp']), /^\d{10}$/);
        assert.match(String(headers['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}=/);
      }
    },
  },
  {
    id: 'webhook-wins-over-sse',
    title: 'live-monitor with webhook_url and Accept: text/event-stream uses webhook mode',
    covers: ['I-4.2.10', 'I-4.2.11', 'I-1.15'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const inbox = target.receiver.open();
      const body = monitorBody(target, { webhook_url: inbox.url });
      const headers = { accept: 'text/event-stream' };
      const answer = await target.api.call('POST', '/live-monitor', body, { headers });
      ok(answer, jobCreated, 'POST /live-monitor');
      await inbox.until(([first]) => first?.body?.type === 'job_started', 30);
    },
  },
  {
    id: 'webhook-auto-stopped',
    title: 'job_stopped after the maximum duration has auto_stopped true and max_duration_reached',
    covers: ['I-3.7', 'I-6.1.8', 'I-6.1.11', 'I-6.1.12', 'I-6.3.4'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 12,
    run: async (target) => {
      const inbox = target.receiver.open();
      await createMonitor(target, { webhook_url: inbox.url, monitor_duration_seconds: 6 });
      const { body } = await untilStopped(inbox, 60);
      const end = shaped(stoppedData, body.data, 'data of job_stopped');
      assert.deepEqual(
        [end.status, end.reason, end.auto_stopped, end.triggers_fired],
        ['stopped', 'max_duration_reached', true, 0],
      );
      assert.ok(end.watch_duration_seconds >= 6, `watched for ${end.watch_duration_seconds} s`);
    },
  },
  {
    id: 'webhook-cancelled',
    title: 'a cancelled job sends job_stopped as its last event, with reason cancelled',
    covers: ['I-3.9', 'I-6.1.8', 'I-6.3.4', 'I-3.2'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const inbox = target.receiver.open();
      const jobId = await createMonitor(target, {
        webhook_url: inbox.url,
        condition: target.conditions.holds,
        max_triggers: null,
        enable_prefilter: false,
      });
      await inbox.until((all) => all.some(({ body }) => body?.type === 'watch_triggered'), 60);
      await cancel(target.api, jobId);
      const { body } = await untilStopped(inbox, 30);
      assert.deepEqual(
        [body.data.status, body.data.reason, body.data.auto_stopped],
        ['stopped', 'cancelled', false],
      );
      await sleep(7_000);
      assert.equal(inbox.deliveries.at(-1)?.body.type, 'job_stopped');
    },
  },
  {
    id: 'webhook-cooldown',
    title: 'alerts are at least trigger_cooldown_seconds apart',
    covers: ['I-3.12', 'I-4.2.8', 'I-3.6'],
    needs: ['stream', 'receiver'],
    slots: 2,
    seconds: 25,
    run: async (target) => {
      const spaced = target.receiver.open();
      const close = target.receiver.open();
      const fields = {
        condition: target.conditions.holds,
        max_triggers: 2,
        enable_prefilter: false,
      };
      await createMonitor(target, { ...fields, webhook_url: spaced.url, trigger_cooldown_seconds: 12 });
      await createMonitor(target, { ...fields, webhook_url: close.url });
      await Promise.all([untilStopped(spaced, 90), untilStopped(close, 90)]);
      const [slow, quick] = [secondsBetweenAlerts(spaced), secondsBetweenAlerts(close)];
      assert.ok(slow >= 12, `alerts ${slow} s apart with a cooldown of 12 s`);
      assert.ok(quick < 12, `alerts ${quick} s apart without a cooldown`);
    },
  },
  {
    id: 'webhook-retries',
    title:
      'a receiver that fails twice, once with a redirect, receives the same event again, and each event once',
    covers: ['I-6.1.3', 'I-6.1.4', 'I-8.14'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 50,
    run: async (target) => {
      const elsewhere = target.receiver.open();
      const replies = [{ status: 503 }, { status: 302, headers: { location: elsewhere.url } }];
      const inbox = target.receiver.open((event, before) =>
        event?.type === 'job_started' ? (replies[before] ?? { status: 204 }) : { status: 204 },
      );
      await createMonitor(target, { webhook_url: inbox.url, condition: target.conditions.holds });
      await untilAttempts(inbox, 'job_started', 3, 150);
      await untilStopped(inbox, 60);
      const first = inbox.deliveries.filter(({ body }) => body.type === 'job_started');
      assert.deepEqual(
        first.map(({ status }) => status),
        [503, 302, 204],
      );
      assert.deepEqual(elsewhere.deliveries, [], 'a redirect was followed');
      assert.deepEqual(
        new Set(inbox.accepted().map(({ type }) => type)),
        new Set(['job_started', 'watch_triggered', 'job_stopped']),
      );
      assert.equal(inbox.accepted().length, 3);
    },
  },
  {
    id: 'webhook-alert-in-time',
    title: 'an alert arrives before the retries of an event that failed before it',
    covers: ['I-6.1.4', 'I-8.14'],
    needs: ['stream', 'receiver', 'decisions'],
    slots: 1,
    seconds: 20,
    run: async (target) => {
      const inbox = target.receiver.open((event) => ({ status: event?.type === 'job_started' ? 400 : 204 }));
      await createMonitor(target, { webhook_url: inbox.url, condition: target.conditions.holds });
      await untilStopped(inbox, 60);
      const types = readTypes(inbox.deliveries);
      assert.equal(types[0], 'job_started');
      assert.ok(
        types.filter((type) => type === 'job_started').length < 4,
        'the alert waited for all attempts',
      );
      const [alert] = inbox.deliveries.filter(({ body }) => body.type === 'watch_triggered');
      const lateSeconds = ((alert?.at ?? Infinity) - Date.parse(alert?.body.timestamp)) / 1000;
      assert.ok(lateSeconds < 10, `the alert arrived ${lateSeconds} s after its event`);
    },
  },
  {
    id: 'webhook-retry-waits',
    title: 'attempts follow after about 0, 5 and 30 s with the same webhook-id',
    covers: ['I-6.1.4', 'I-5.9'],
    needs: ['stream', 'receiver', 'decisions'],
    slots: 1,
    seconds: 50,
    run: async (target) => {
      const inbox = target.receiver.open((event, before) => ({
        status: event?.type === 'job_started' && before < 2 ? 500 : 200,
      }));
      await createMonitor(target, { webhook_url: inbox.url, condition: target.conditions.holds });
      await untilAttempts(inbox, 'job_started', 3, 150);
      const attempts = inbox.deliveries.filter(({ body }) => body.type === 'job_started');
      const [one, two, three] = attempts.map(({ at }) => (at - (attempts[0]?.at ?? 0)) / 1000);
      assert.equal(one, 0);
      assertBetween(two, 3.5, 12);
      assertBetween(three, 22, 45);
      assert.equal(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size, 1);
    },
  },
  {
    id: 'webhook-slow-receiver',
    title: 'a response after 20 s succeeds',
    covers: ['I-6.1.3', 'I-8.14'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 40,
    run: async (target) => {
      const inbox = target.receiver.open((event) => ({
        status: 204,
        afterSeconds: event?.type === 'job_started' ? 20 : 0,
      }));
      await createMonitor(target, { webhook_url: inbox.url, condition: target.conditions.holds });
      await untilStopped(inbox, 90);
      assert.deepEqual(readTypes(inbox.deliveries), ['job_started', 'watch_triggered', 'job_stopped']);
    },
  },
  {
    id: 'webhook-late-receiver',
    title: 'a response after more than 30 s is a failure, and the event is repeated',
    covers: ['I-6.1.3', 'I-8.14'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 60,
    run: async (target) => {
      const inbox = target.receiver.open((event, before) => ({
        status: 204,
        afterSeconds: event?.type === 'job_started' && before === 0 ? 34 : 0,
      }));
      await createMonitor(target, { webhook_url: inbox.url, condition: target.conditions.holds });
      await untilAttempts(inbox, 'job_started', 2, 120);
      await untilStopped(inbox, 60);
      assert.equal(readTypes(inbox.deliveries).filter((type) => type === 'job_started').length, 2);
    },
  },
  {
    id: 'webhook-gives-up',
    title: 'the third failed retry is recorded in the job and in webhooks.failed',
    covers: ['I-6.1.4', 'I-6.1.5', 'I-8.14', 'I-7.11', 'I-2.10.5'],
    needs: ['stream', 'receiver', 'internal key', 'slow'],
    slots: 1,
    seconds: 180,
    run: async (target) => {
      const failedBefore = (await readMetrics(target)).webhooks.failed;
      const inbox = target.receiver.open((event) => ({
        status: event?.type === 'job_started' ? 500 : 204,
      }));
      const fields = { webhook_url: inbox.url, condition: target.conditions.holds };
      const jobId = await createMonitor(target, fields);
      await eventually(
        'webhooks.failed grew',
        300,
        () => readMetrics(target),
        ({ webhooks }) => webhooks.failed > failedBefore,
      );
      assert.equal(readTypes(inbox.deliveries).filter((type) => type === 'job_started').length, 4);
      const { stats } = await readJob(target.api, jobId);
      assert.ok(JSON.stringify(stats).includes('Failed to deliver webhook'), excerpt(stats));
    },
  },
  {
    id: 'webhook-url-refused',
    title: 'a webhook_url that is not an http(s) address returns 400 with the error envelope',
    covers: ['I-4.2.3', 'I-7.5'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      for (const webhookUrl of ['nonsense', 'ftp://example.com/hook', 'http://169.254.169.254/hook']) {
        const body = monitorBody(target, { webhook_url: webhookUrl });
        const answer = await target.api.call('POST', '/live-monitor', body);
        assert.equal(answer.status, 400, `${webhookUrl}: ${answer.text}`);
        shaped(errorEnvelope, answer.body, webhookUrl);
      }
    },
  },
];

async function readMetrics({ internal }: Target) {
  return ok(await internal.call('GET', '/metrics'), metrics, 'GET /metrics');
}

function readTypes(deliveries: Delivery[]): string[] {
  return deliveries.map(({ body }) => String(body?.type));
}

function secondsBetweenAlerts(inbox: Inbox): number {
  const alerts = inbox.accepted().filter(({ type }) => type === 'watch_triggered');
  assert.equal(alerts.length, 2);
  return (Date.parse(alerts[1].timestamp) - Date.parse(alerts[0].timestamp)) / 1000;
}

function assertAscending(values: number[]): void {
  assert.deepEqual(
    values,
    values.toSorted((a, b) => a - b),
  );
}

function assertBetween(value: number | undefined, least: number, max: number): void {
  assert.ok(value !== undefined && value >= least && value <= max, `${value} is not in ${least} to ${max}`);
}
