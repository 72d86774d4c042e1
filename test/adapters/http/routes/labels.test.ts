import { beforeEach, describe, expect, test } from 'vitest';
import { createClientFor, type ApiClient } from '../../../support/api/api-client.ts';
import { createWorld, type World } from '../../../support/world.ts';

/** Labels of jobs, and jobs that run again with the same request. */

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world);
});

const monitor = {
  stream_url: 'rtsp://viewer:secret@camera.example.com/1',
  condition: 'a ship enters the lock',
  interval_seconds: 5,
  max_triggers: 3,
  trigger_cooldown_seconds: 60,
  webhook_url: 'https://example.com/hook',
  webhook_events: ['watch_triggered'],
  labels: ['lock', 'night'],
};
const create = async (fields = {}) =>
  (await client.call('POST', '/live-monitor', { ...monitor, ...fields })).body;

describe('labels of a job', () => {
  test('the job, its events and its webhooks repeat the labels, each once', async () => {
    const job = await create({ labels: ['lock', 'night', 'lock'], webhook_events: null });
    expect(job.details.labels).toEqual(['lock', 'night']);
    await world.begin({ run_id: job.job_id, generation: 0 });
    const { body: log } = await client.call('GET', `/jobs/${job.job_id}/events`);
    expect(log.events[0].data.labels).toEqual(['lock', 'night']);
    const { body: detail } = await client.call('GET', `/jobs/${job.job_id}`);
    expect(detail.config.labels).toEqual(['lock', 'night']);
  });

  test('a list is filtered by a label', async () => {
    const first = await create();
    await create({ labels: [] });
    const { body } = await client.call('GET', '/jobs?label=lock');
    expect(body).toMatchObject({ total: 1, jobs: [{ job_id: first.job_id }] });
    expect((await client.call('GET', '/jobs?label=day')).body.total).toBe(0);
    expect((await client.call('GET', '/jobs')).body.total).toBe(2);
  });

  test.each([
    [Array(9).fill('x'), ['body', 'labels']],
    [['x'.repeat(41)], ['body', 'labels', 0]],
    [[''], ['body', 'labels', 0]],
    ['lock', ['body', 'labels']],
  ])('the labels %j are rejected', async (labels, loc) => {
    const { status, body } = await client.call('POST', '/live-monitor', { ...monitor, labels });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(loc);
  });
});

describe('POST /jobs/{job_id}/run-again', () => {
  test('an ended monitor runs again with its whole request, including a password of the stream', async () => {
    const first = await create();
    await client.call('DELETE', `/jobs/${first.job_id}`);
    const { status, body } = await client.call('POST', `/jobs/${first.job_id}/run-again`);
    expect(status).toBe(200);
    expect(body.job_id).not.toBe(first.job_id);
    expect(body).toMatchObject({ status: 'pending', details: first.details, message: first.message });
    const job = await world.c.jobs.get(body.job_id, world.c.now());
    expect((await world.c.jobs.source(job!.source_id))?.url).toBe(monitor.stream_url);
    expect(job).toMatchObject({ webhook_url: monitor.webhook_url, webhook_events: monitor.webhook_events });
  });

  test('a digest runs again with its windows', async () => {
    const request = { stream_url: 'https://example.com/live.m3u8', window_minutes: 2, max_windows: 4 };
    const { body: first } = await client.call('POST', '/live-digest', request);
    const { body } = await client.call('POST', `/jobs/${first.job_id}/run-again`);
    expect(body).toMatchObject({ job_type: 'live-digest', details: first.details });
  });

  test('a job runs again with its notices, and with all its types of webhook events after a change of the defaults', async () => {
    const first = await create({ webhook_events: null, monitor_duration_seconds: 7200 });
    await client.call('PUT', '/webhook-defaults', { webhook_events: ['error'] });
    const { body } = await client.call('POST', `/jobs/${first.job_id}/run-again`);
    expect(body.message).toBe(first.message);
    expect(body.message).toContain('Limited to 600 s');
    expect(await world.c.jobs.get(body.job_id, world.c.now())).toMatchObject({ webhook_events: null });
  });

  test('a job runs again once per idempotency key', async () => {
    const first = await create();
    const path = `/jobs/${first.job_id}/run-again`;
    const again = async (key: string) =>
      (await client.call('POST', path, undefined, { 'idempotency-key': key })).body;
    const { job_id: jobId } = await again('once');
    expect((await again('once')).job_id).toBe(jobId);
    expect((await again('twice')).job_id).not.toBe(jobId);
    expect(await world.c.jobs.countActive('harbour')).toBe(3);
  });

  test('a job of another caller is not found', async () => {
    const first = await create();
    const other = await createClientFor(world, ['jobs'], 'airport');
    expect((await other.call('POST', `/jobs/${first.job_id}/run-again`)).status).toBe(404);
  });
});
