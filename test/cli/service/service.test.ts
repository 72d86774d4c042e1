import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pagerdutyEvent, slackMessage } from '../../adapters/destinations/vendor-schemas.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { jpegSize } from '../../support/hls/jpeg-size.ts';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startGstRtspServer } from '../../support/rtsp/gst-rtsp-server.ts';
import { systemPath } from '../../support/runner/layer-ffmpeg.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/**
 * Started service: its own process, live streams, a real receiver, and a crash. test/conformance has what ends a job, a
 * summary and a delivery in time.
 */

const picture = 'testsrc2=size=320x180:rate=5';
const filledWith = (color: string) => `color=${color}:size=320x180:rate=5`;

const dataDir = folderOfFile();
/** Starts the service with the ffmpeg of users. */
const startAsUser = () => startService(dataDir, { PATH: systemPath });
let service: ServiceProcess;
let moving: LoopedStream;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  moving = await startLoop(picture);
  service = await startAsUser();
  receiver = await startReceiver(() => service.webhookSecret);
});

afterAll(async () => {
  receiver.close();
  await moving.close();
  await service.kill('SIGTERM');
});

async function monitor(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await service.call('POST', '/live-monitor', {
    stream_url: moving.url,
    condition: 'The picture is entirely black',
    input_mode: 'frames',
    interval_seconds: 5,
    ...fields,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.job_id;
}

/** Waits for the first check of a job. */
async function checked(jobId: string): Promise<void> {
  const checks = async () => (await service.call('GET', `/jobs/${jobId}`)).body.stats.checks_performed;
  await vi.waitFor(async () => expect(await checks()).toBeGreaterThan(0), { timeout: 60_000, interval: 100 });
}

async function digest(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await service.call('POST', '/live-digest', {
    stream_url: moving.url,
    window_minutes: 1,
    // The stream repeats itself every 10 s: at that distance frames can be the same, a frozen one.
    capture_interval_seconds: 13,
    ...fields,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.job_id;
}

async function ended(jobId: string, withinSeconds: number) {
  const deadline = Date.now() + withinSeconds * 1000;
  for (;;) {
    const { body } = await service.call('GET', `/jobs/${jobId}`);
    if (!['pending', 'running'].includes(body.status)) return body;
    if (Date.now() > deadline)
      throw new Error(`Still ${body.status}: ${JSON.stringify(body.stats)}\n${service.output()}`);
    await sleep(200);
  }
}

/** For what takes some checks on a busy machine. */
const patient = { timeout: 40_000, interval: 200 };

describe.concurrent('watching', () => {
  test('an HLS stream triggers within one interval of its scene change, and a signed webhook arrives', async ({
    expect,
  }) => {
    const stream = await startLoop(picture);
    try {
      const jobId = await monitor({
        stream_url: stream.url,
        condition: 'The picture is mostly red',
        webhook_url: `${receiver.url}/hls`,
      });
      await checked(jobId);
      await stream.show(filledWith('red'));
      const changedAt = Date.now();
      const job = await ended(jobId, 25);
      expect(job).toMatchObject({
        status: 'completed',
        stats: { reason: 'condition_triggered', triggers_fired: 1 },
      });
      const events = receiver.of('/hls');
      await expect
        .poll(() => events.length && receiver.of('/hls').map(({ type }) => type))
        .toEqual(['job_started', 'watch_triggered', 'job_stopped']);
      expect(receiver.of('/hls').every(({ verified }) => verified)).toBe(true);
      const alert = receiver.of('/hls')[1];
      expect(Buffer.from(alert?.data.frame_b64, 'base64').subarray(0, 3).toString('hex')).toBe('ffd8ff');
      // One interval, one segment, and time for a busy machine.
      expect((alert?.at ?? 0) - changedAt).toBeLessThan((5 + 1 + 8) * 1000);
    } finally {
      await stream.close();
    }
  });

  test('a watch opens and closes through two scene changes, with payloads that fit the schemas of Slack and PagerDuty', async ({
    expect,
  }) => {
    const bodies: Record<string, any[]> = { '/slack': [], '/pagerduty': [] };
    const vendors = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies[request.url ?? '']?.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(request.url === '/slack' ? 200 : 202).end('ok');
      });
    });
    vendors.listen(0, '127.0.0.1');
    await once(vendors, 'listening');
    const address = `http://127.0.0.1:${(vendors.address() as AddressInfo).port}`;
    const stream = await startLoop(filledWith('white'));
    const { body: watch } = await service.call('POST', '/watches', {
      name: 'Gate',
      stream_url: stream.url,
      interval_seconds: 5,
      evidence_clip: null,
      conditions: [{ condition: 'The picture is entirely white', checks_to_close: 2 }],
      destinations: [
        { type: 'slack', url: `${address}/slack` },
        { type: 'pagerduty', routing_key: 'R'.repeat(32), url: `${address}/pagerduty` },
      ],
    });
    const listAlertEvents = async () => {
      const page = await service.call('GET', `/watches/${watch.watch_id}/events?limit=1000`);
      return page.body.events.filter(({ type }: { type: string }) => type.startsWith('alert_'));
    };
    const typesAre = (types: string[]) =>
      expect
        .poll(async () => (await listAlertEvents()).map(({ type }: { type: string }) => type), patient)
        .toEqual(types);
    try {
      await typesAre(['alert_opened']);
      await stream.show(picture);
      await typesAre(['alert_opened', 'alert_closed']);
      await expect
        .poll(() => [bodies['/slack']?.length, bodies['/pagerduty']?.length], patient)
        .toEqual([1, 2]);
      // By default people get the opening, and an incident its end.
      for (const message of bodies['/slack'] ?? []) slackMessage.parse(message);
      for (const event of bodies['/pagerduty'] ?? []) pagerdutyEvent.parse(event);
      const [{ data: opened }] = await listAlertEvents();
      expect(bodies['/pagerduty']).toMatchObject([
        { event_action: 'trigger', dedup_key: opened.alert_id },
        { event_action: 'resolve', dedup_key: opened.alert_id },
      ]);
    } finally {
      await service.call('DELETE', `/watches/${watch.watch_id}`);
      await stream.close();
      vendors.close();
    }
  });

  test('a third-party RTSP camera triggers too, with a clip', async ({ expect }) => {
    const camera = await startGstRtspServer('--red-after', '9');
    try {
      const jobId = await monitor({
        stream_url: camera.url,
        condition: 'The picture is mostly red',
        input_mode: 'hybrid',
        clip_duration_seconds: 1,
      });
      expect(await ended(jobId, 30)).toMatchObject({
        status: 'completed',
        stats: { reason: 'condition_triggered' },
      });
    } finally {
      await camera.close();
    }
  });

  test('a digest ends as cancelled with a last summary and the grid of its frames, and DELETE responds soon', async ({
    expect,
  }) => {
    const jobId = await digest({ include_frames: true, webhook_url: `${receiver.url}/cancelled` });
    const captured = async () => (await service.call('GET', `/jobs/${jobId}`)).body.stats.frames_captured;
    await expect.poll(captured, patient).toBeGreaterThan(1);
    const askedAt = Date.now();
    const { body } = await service.call('DELETE', `/jobs/${jobId}`);
    expect(body).toMatchObject({ status: 'stopped', final_stats: { reason: 'cancelled' } });
    expect(Date.now() - askedAt).toBeLessThan(12_000);
    const { stats } = await ended(jobId, 1);
    expect(stats.summaries).toMatchObject([{ data: { window_index: 1, partial: true, gaps: [] } }]);
    expect(stats.summaries[0].data.summary).toContain('samples from');
    const grid = await fetch(stats.summaries[0].data.frame_grid_url, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const linked = Buffer.from(await grid.arrayBuffer());
    expect(jpegSize(linked).width).toBeGreaterThan(500);
    await expect
      .poll(() => receiver.of('/cancelled').map(({ type }) => type))
      .toEqual(['job_started', 'summary_generated', 'job_stopped']);
    expect(receiver.of('/cancelled')[1]).toMatchObject({
      verified: true,
      data: { frame_grid_b64: linked.toString('base64') },
    });
  });
});

test('a kill -9 during ten running jobs loses no event', async () => {
  const { body: before } = await service.call('GET', '/jobs?limit=100');
  const active = before.jobs.filter(
    ({ status }: { status: string }) => status === 'running' || status === 'pending',
  );
  for (const { job_id: jobId } of active) await service.call('DELETE', `/jobs/${jobId}`);

  const jobIds = [];
  for (let index = 0; index < 10; index += 1) {
    jobIds.push(
      await monitor({
        condition: 'The picture is not black',
        max_triggers: null,
        monitor_duration_seconds: 20,
        enable_prefilter: false,
        webhook_url: `${receiver.url}/crash/${index}`,
      }),
    );
  }
  expect(
    (await service.call('POST', '/live-monitor', { stream_url: moving.url, condition: 'x' })).status,
  ).toBe(429);
  await sleep(6_000);
  await service.kill('SIGKILL');
  service = await startAsUser();

  for (const [index, jobId] of jobIds.entries()) {
    expect(await ended(jobId, 60)).toMatchObject({
      status: 'stopped',
      stats: { reason: 'max_duration_reached' },
    });
    const log = (await service.call('GET', `/jobs/${jobId}/events?limit=1000`)).body.events;
    expect(log.map(({ data }: { data: { sequence: number } }) => data.sequence)).toEqual(
      log.map((_: unknown, at: number) => at + 1),
    );
    const sent = log
      .filter(({ type }: { type: string }) => type !== 'progress')
      .map(({ data }: { data: { sequence: number } }) => data.sequence);
    const got = () => receiver.of(`/crash/${index}`).map(({ data }) => data.sequence);
    // At least once and in order: repetitions are allowed, steps back are not.
    await expect.poll(() => [...new Set(got())], { timeout: 20_000 }).toEqual(sent);
    expect(got()).toEqual(got().toSorted((a, b) => a - b));
  }
  for (let index = 0; index < 10; index += 1) await monitor({ monitor_duration_seconds: 5 });
}, 150_000);
