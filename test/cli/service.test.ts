import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLiveHls } from '../../cli/demo/live-hls.ts';
import type { LiveHls } from '../../cli/demo/live-hls.ts';
import { pagerdutyEvent, slackMessage } from '../adapters/destinations/vendor-schemas.ts';
import { startReceiver } from '../support/receiver.ts';
import { jpegSize } from '../support/hls/jpeg-size.ts';
import { startGstRtspServer } from '../support/rtsp/gst-rtsp-server.ts';
import { startService } from '../support/service-process.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

/** Started service: its own process, live streams, a real receiver, and a crash. */

const dataDir = folderOfFile();
let service: ServiceProcess;
let moving: LiveHls;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  moving = await liveHls('testsrc2=size=640x360:rate=10');
  service = await startService(dataDir);
  receiver = await startReceiver(
    () => service.webhookSecret,
    (path, type, before) => (path === '/flaky' && type === 'watch_triggered' && before < 2 ? 503 : 204),
  );
});

afterAll(async () => {
  receiver.close();
  await moving.close();
  await service.kill('SIGTERM');
});

function liveHls(source: string): Promise<LiveHls> {
  const inputArgs = ['-re', '-f', 'lavfi', '-i', source];
  return startLiveHls({
    ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg',
    inputArgs,
    segmentSeconds: 1,
    host: '127.0.0.1',
  });
}

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

async function digest(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await service.call('POST', '/live-digest', {
    stream_url: moving.url,
    window_minutes: 1,
    capture_interval_seconds: 10,
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

describe.concurrent('watching', () => {
  test('an HLS stream triggers within one interval of its scene change, and a signed webhook arrives', async ({
    expect,
  }) => {
    const startedAt = Date.now();
    const stream = await liveHls("testsrc2=size=640x360:rate=10,drawbox=color=red:t=fill:enable='gte(t,8)'");
    try {
      const jobId = await monitor({
        stream_url: stream.url,
        condition: 'The picture is mostly red',
        webhook_url: `${receiver.url}/hls`,
      });
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
      // The scene changes at 8 s: plus one interval, one segment, and time for a busy machine.
      expect((alert?.at ?? 0) - startedAt).toBeLessThan((8 + 5 + 1 + 8) * 1000);
    } finally {
      await stream.close();
    }
  });

  test('a watch opens, reminds and closes through two scene changes, with payloads that fit the schemas of Slack and PagerDuty', async ({
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
    const white = "drawbox=color=white:t=fill:enable='between(t,8,100)'";
    const stream = await liveHls(`testsrc2=size=320x180:rate=5,${white}`);
    const events = ['alert_opened', 'alert_reminder', 'alert_closed'];
    const { body: watch } = await service.call('POST', '/watches', {
      name: 'Gate',
      stream_url: stream.url,
      interval_seconds: 5,
      conditions: [{ condition: 'The picture is entirely white', remind_seconds: 60, checks_to_close: 2 }],
      destinations: [
        { type: 'slack', url: `${address}/slack` },
        { type: 'pagerduty', routing_key: 'R'.repeat(32), url: `${address}/pagerduty` },
      ],
    });
    const listAlertEvents = async () => {
      const page = await service.call('GET', `/watches/${watch.watch_id}/events?limit=1000`);
      return page.body.events.filter(({ type }: { type: string }) => events.includes(type));
    };
    try {
      await expect
        .poll(async () => (await listAlertEvents()).map(({ type }: { type: string }) => type), {
          timeout: 180_000,
          interval: 1000,
        })
        .toEqual(events);
      await expect
        .poll(() => [bodies['/slack']?.length, bodies['/pagerduty']?.length], { timeout: 20_000 })
        .toEqual([2, 3]);
      // By default people get the opening and its reminder, and an incident its end.
      for (const message of bodies['/slack'] ?? []) slackMessage.parse(message);
      for (const event of bodies['/pagerduty'] ?? []) pagerdutyEvent.parse(event);
      const [{ data: opened }] = await listAlertEvents();
      expect(bodies['/pagerduty']).toMatchObject([
        { event_action: 'trigger', dedup_key: opened.alert_id },
        { event_action: 'trigger', dedup_key: opened.alert_id },
        { event_action: 'resolve', dedup_key: opened.alert_id },
      ]);
    } finally {
      await service.call('DELETE', `/watches/${watch.watch_id}`);
      await stream.close();
      vendors.close();
    }
  }, 240_000);

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

  test('a receiver that fails twice gets the event on the third attempt, with the same webhook-id', async ({
    expect,
  }) => {
    await monitor({ condition: 'The picture is not black', webhook_url: `${receiver.url}/flaky` });
    const alerts = () => receiver.of('/flaky').filter(({ type }) => type === 'watch_triggered');
    await expect.poll(alerts, { timeout: 50_000, interval: 500 }).toHaveLength(3);
    expect(alerts().map(({ status }) => status)).toEqual([503, 503, 204]);
    expect(new Set(alerts().map(({ id }) => id)).size).toBe(1);
    expect(alerts().every(({ verified }) => verified)).toBe(true);
    // The end of the job does not wait for the retries of the alert.
    await expect.poll(() => receiver.of('/flaky').map(({ type }) => type)).toContain('job_stopped');
  }, 60_000);
});

describe.concurrent('the end of a job', () => {
  test('a job ends as max_duration_reached after its duration', async ({ expect }) => {
    const job = await ended(await monitor({ monitor_duration_seconds: 6 }), 15);
    expect(job).toMatchObject({
      status: 'stopped',
      stats: { reason: 'max_duration_reached', auto_stopped: true },
    });
    expect(job.stats.watch_duration_seconds).toBeGreaterThanOrEqual(6);
  });

  test('a job ends as max_triggers_reached after several alerts', async ({ expect }) => {
    const job = await ended(await monitor({ condition: 'The picture is not black', max_triggers: 2 }), 20);
    expect(job).toMatchObject({
      status: 'completed',
      stats: { reason: 'max_triggers_reached', triggers_fired: 2 },
    });
  });

  test('a job ends as cancelled after DELETE', async ({ expect }) => {
    const jobId = await monitor({});
    const { body } = await service.call('DELETE', `/jobs/${jobId}`);
    expect(body).toMatchObject({ status: 'stopped', final_stats: { reason: 'cancelled' } });
    expect((await ended(jobId, 1)).stats.reason).toBe('cancelled');
  });

  test('a job ends as stream_lost after its stream ends', async ({ expect }) => {
    const dying = await liveHls('testsrc2=size=320x180:rate=10');
    const jobId = await monitor({ stream_url: dying.url, webhook_url: `${receiver.url}/dying` });
    await dying.close();
    const job = await ended(jobId, 100);
    expect(job).toMatchObject({
      status: 'failed',
      stats: { reason: 'stream_lost', error: { code: 'STREAM_FETCH_FAILED' } },
    });
    await expect
      .poll(() => receiver.of('/dying').map(({ type }) => type))
      .toEqual(['job_started', 'error', 'job_stopped']);
  }, 120_000);

  test('a digest ends as max_windows_reached after its summaries, with the grid of frames of a live stream', async ({
    expect,
  }) => {
    const jobId = await digest({
      max_windows: 1,
      include_frames: true,
      webhook_url: `${receiver.url}/digest`,
    });
    const job = await ended(jobId, 90);
    expect(job).toMatchObject({
      status: 'stopped',
      stats: { reason: 'max_windows_reached', auto_stopped: false, windows_summarized: 1 },
    });
    const [summary] = job.stats.summaries;
    expect(summary.data).toMatchObject({ window_index: 1, partial: false, gaps: [] });
    expect(summary.data.summary).toContain('samples from');
    expect(summary.data.frames_captured + summary.data.frames_skipped).toBeGreaterThanOrEqual(5);
    const windowMs = Date.parse(summary.data.window_end) - Date.parse(summary.data.window_start);
    expect(windowMs).toBe(60_000);
    const grid = await fetch(summary.data.frame_grid_url, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const linked = Buffer.from(await grid.arrayBuffer());
    expect(jpegSize(linked).width).toBeGreaterThan(900);
    await expect
      .poll(() => receiver.of('/digest').map(({ type }) => type))
      .toEqual(['job_started', 'summary_generated', 'job_stopped']);
    expect(receiver.of('/digest')[1]).toMatchObject({
      verified: true,
      data: { frame_grid_b64: linked.toString('base64') },
    });
  }, 120_000);

  test('a digest ends as cancelled with a last summary, and DELETE responds soon', async ({ expect }) => {
    const jobId = await digest({ webhook_url: `${receiver.url}/cancelled` });
    await sleep(12_000);
    const askedAt = Date.now();
    const { body } = await service.call('DELETE', `/jobs/${jobId}`);
    expect(body).toMatchObject({ status: 'stopped', final_stats: { reason: 'cancelled' } });
    expect(Date.now() - askedAt).toBeLessThan(12_000);
    const { stats } = await ended(jobId, 1);
    expect(stats.summaries).toMatchObject([{ data: { window_index: 1, partial: true } }]);
    await expect
      .poll(() => receiver.of('/cancelled').map(({ type }) => type))
      .toEqual(['job_started', 'summary_generated', 'job_stopped']);
  }, 60_000);
});

describe('rejected streams', () => {
  test('a recording is rejected as NOT_LIVESTREAM', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/vnd.apple.mpegurl');
      response.end('#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/vod.m3u8`;
    const { status, body } = await service.call('POST', '/live-monitor', {
      stream_url: url,
      condition: 'anything',
    });
    server.close();
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'NOT_LIVESTREAM' });
    expect(body.error.remediation).not.toBe('');
  });

  test.each([
    ['ftp://example.com/live', 'INVALID_URL'],
    ['file:///etc/passwd', 'INVALID_URL'],
    ['javascript:alert(1)', 'INVALID_URL'],
    ['nonsense', 'INVALID_URL'],
    ['http://169.254.169.254/latest/meta-data/x.m3u8', 'INVALID_URL'],
    ['http://127.0.0.1:9/live.m3u8', 'STREAM_FETCH_FAILED'],
    ['rtsp://127.0.0.1:9/live', 'STREAM_FETCH_FAILED'],
  ])('the URL %s is rejected as %s', async (streamUrl, code) => {
    const { status, body } = await service.call('POST', '/live-monitor', {
      stream_url: streamUrl,
      condition: 'anything',
    });
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code });
    expect(body.error.remediation).not.toBe('');
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
  service = await startService(dataDir);

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
