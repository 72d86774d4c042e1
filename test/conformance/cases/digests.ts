import type { Case } from '../case.ts';
import { assert, ok, shaped } from '../expect.ts';
import { cancel, createDigest, readJob, untilEnded } from '../jobs.ts';
import { jobCreated, jpegBase64, stoppedData, webhookEnvelope } from '../shapes.ts';
import type { SseEvent } from '../sse.ts';

/** Cases of `POST /live-digest` (sections 4.3, 6). A window takes at least a minute, so these cases take longer. */

const oneWindow = { window_minutes: 1, capture_interval_seconds: 10, max_windows: 1 };

export const digestCases: Case[] = [
  {
    id: 'digest-accepted',
    title: 'live-digest immediately returns a pending job, which can be polled and cancelled',
    covers: ['I-1.8', 'I-2.2.1', 'I-2.2.3', 'I-3.3', 'I-4.3.9', 'I-2.1.3', 'I-4.8.1', 'I-3.9'],
    needs: ['stream'],
    slots: 1,
    run: async (target) => {
      const body = { stream_url: target.streams.live };
      const answer = await target.api.call('POST', '/live-digest', body);
      const { job_id: jobId, status, job_type: type } = ok(answer, jobCreated, 'POST /live-digest');
      assert.deepEqual([status, type], ['pending', 'live-digest']);
      assert.equal((await readJob(target.api, jobId)).job_type, 'live-digest');
      const stopped = await cancel(target.api, jobId);
      assert.equal(stopped.status, 200, stopped.text);
      const job = await readJob(target.api, jobId);
      assert.deepEqual([job.status, job.stats?.reason], ['stopped', 'cancelled']);
    },
  },
  {
    id: 'digest-defaults',
    title: 'a digest with only a stream has the defaults of section 4.3 in its config',
    covers: ['I-4.3.2', 'I-4.3.4', 'I-4.3.5', 'I-4.3.6', 'I-1.13', 'I-2.1.6'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const { config = {} } = await readJob(target.api, await createDigest(target));
      for (const [name, value] of Object.entries({
        window_minutes: 10,
        capture_interval_seconds: 60,
        max_windows: null,
        include_frames: false,
        enable_prefilter: true,
      }))
        assert.equal(config[name], value, name);
    },
  },
  {
    id: 'digest-webhook-wins-over-sse',
    title: 'live-digest with webhook_url and Accept: text/event-stream uses webhook mode',
    covers: ['I-4.3.7', 'I-4.3.8', 'I-1.15'],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const inbox = target.receiver.open();
      const body = { stream_url: target.streams.live, webhook_url: inbox.url };
      const headers = { accept: 'text/event-stream' };
      const answer = await target.api.call('POST', '/live-digest', body, { headers });
      ok(answer, jobCreated, 'POST /live-digest');
      const started = await inbox.until(([first]) => first, 30);
      assert.equal(started.body.type, 'job_started');
    },
  },
  {
    id: 'digest-webhook-flow',
    title: 'a digest of one window sends job_started, summary_generated with a frame grid, and job_stopped',
    covers: [
      'I-1.8',
      'I-4.3.3',
      'I-4.3.8',
      'I-4.3.5',
      'I-4.3.6',
      'I-6.1.1',
      'I-6.1.8',
      'I-6.1.10',
      'I-3.8',
      'I-6.3.1',
      'I-6.3.3',
      'I-6.3.4',
      'I-4.3.2',
      'I-4.3.4',
    ],
    needs: ['stream', 'receiver'],
    slots: 1,
    seconds: 75,
    run: async (target) => {
      const inbox = target.receiver.open();
      const fields = { ...oneWindow, include_frames: true, webhook_url: inbox.url };
      const jobId = await createDigest(target, fields);
      await inbox.until((all) => all.some(({ body }) => body?.type === 'job_stopped'), 150);
      const events = inbox.accepted().map((event) => shaped(webhookEnvelope, event, 'webhook'));
      assert.deepEqual(
        events.map(({ type }) => type),
        ['job_started', 'summary_generated', 'job_stopped'],
      );
      assertSummary(events[1]?.data, true);
      const end = shaped(stoppedData, events[2]?.data, 'data of job_stopped');
      assert.deepEqual([end.job_id, end.status, end.auto_stopped], [jobId, 'stopped', false]);
    },
  },
  {
    id: 'digest-sse-flow',
    title:
      'a digest in SSE mode streams started, progress, summary without a grid, and stopped, and then closes',
    covers: ['I-4.3.7', 'I-6.2.2', 'I-6.2.3', 'I-6.3.1', 'I-6.3.3', 'I-6.3.4', 'I-4.3.6', 'I-1.15', 'I-3.8'],
    needs: ['stream'],
    slots: 1,
    seconds: 75,
    run: async (target) => {
      const body = { stream_url: target.streams.live, ...oneWindow };
      const stream = await target.api.open('/live-digest', body);
      assert.equal(stream.status, 200);
      assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
      const events: SseEvent[] = [];
      for await (const event of stream.events()) events.push(event);
      const names = events.map(({ event }) => event);
      assert.deepEqual(
        names.filter((name) => name !== 'progress'),
        ['started', 'summary', 'stopped'],
      );
      assert.ok(names.includes('progress'), names.join());
      assertSummary(events.find(({ event }) => event === 'summary')?.data.data, false);
    },
  },
  {
    id: 'digest-polling-flow',
    title: 'a digest of one window stops as max_windows_reached, with its summary in stats',
    covers: ['I-1.8', 'I-3.8', 'I-4.3.5', 'I-4.3.9', 'I-2.1.7'],
    needs: ['stream', 'decisions'],
    slots: 1,
    seconds: 75,
    run: async (target) => {
      const job = await untilEnded(target.api, await createDigest(target, oneWindow), 150);
      assert.deepEqual([job.status, job.stats?.reason], ['stopped', 'max_windows_reached']);
      assert.match(JSON.stringify(job.stats), /"summary":"\w/);
      const seconds = job.stats?.watch_duration_seconds ?? 0;
      assert.ok(seconds >= 50 && seconds < 100, `watched for ${seconds} s`);
    },
  },
];

/** Verifies the members of a summary; the frame grid only if it was requested. */
function assertSummary(data: Record<string, any> | undefined, withGrid: boolean): void {
  assert.equal(typeof data?.['summary'], 'string');
  assert.ok((data?.['summary']?.length ?? 0) > 10, data?.['summary']);
  const seconds = (Date.parse(data?.['window_end']) - Date.parse(data?.['window_start'])) / 1000;
  assert.ok(seconds >= 50 && seconds <= 70, `a window of ${seconds} s`);
  assert.ok(data?.['frames_captured'] + data?.['frames_skipped'] >= 4, 'six samples in a minute at 10 s');
  if (withGrid) jpegBase64.parse(data?.['frame_grid_b64']);
  else assert.equal(data?.['frame_grid_b64'] ?? undefined, undefined);
}
