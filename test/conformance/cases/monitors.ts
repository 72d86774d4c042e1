import { setTimeout as sleep } from 'node:timers/promises';
import type { Case, Target } from '../case.ts';
import { assert, eventually, ok } from '../expect.ts';
import { cancel, createMonitor, isTerminal, monitorBody, readJob, untilEnded, untilStatus } from '../jobs.ts';
import { jobCreated } from '../shapes.ts';

/** Cases of `POST /live-monitor` in polling mode, and of monitor transitions (sections 3, 4.2). */

export const monitorCases: Case[] = [
  {
    id: 'monitor-accepted',
    title: 'live-monitor immediately returns a pending job in the shape of section 2.2',
    covers: ['I-1.7', 'I-2.2.1', 'I-2.2.2', 'I-2.2.3', 'I-2.2.4', 'I-2.2.5', 'I-2.2.6', 'I-3.3', 'I-4.2.12'],
    needs: ['stream'],
    slots: 1,
    run: async (target) => {
      const answer = await target.api.call('POST', '/live-monitor', monitorBody(target));
      const job = ok(answer, jobCreated, 'POST /live-monitor');
      assert.deepEqual([job.status, job.job_type], ['pending', 'live-monitor']);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.ok(Math.abs(Date.parse(job.created_at) - Date.now()) < 120_000, job.created_at);
    },
  },
  {
    id: 'monitor-defaults',
    title: 'a monitor with only stream and condition has the defaults of section 4.2 in its config',
    covers: [
      'I-4.2.4',
      'I-4.2.5',
      'I-4.2.6',
      'I-4.2.7',
      'I-4.2.8',
      'I-4.2.9',
      'I-4.2.13',
      'I-4.2.14',
      'I-8.2',
      'I-1.13',
      'I-2.1.6',
    ],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target, { input_mode: undefined, interval_seconds: undefined });
      const { config } = await readJob(target.api, jobId);
      const { input_mode: mode, condition, ...rest } = config ?? {};
      assert.ok(mode === 'clip' || mode === 'frames', `input_mode ${String(mode)}`);
      assert.equal(condition, target.conditions.fails);
      for (const [name, value] of Object.entries({
        interval_seconds: 10,
        clip_duration_seconds: 3,
        monitor_duration_seconds: 600,
        trigger_cooldown_seconds: 0,
        max_triggers: 1,
        enable_prefilter: true,
      }))
        assert.equal(rest[name], value, name);
    },
  },
  {
    id: 'monitor-config',
    title: 'config contains the requested values, also from strings, with durations limited to the cap',
    covers: ['I-2.1.6', 'I-4.2.7', 'I-8.2', 'I-2.9.1', 'I-4.2.14'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target, {
        interval_seconds: '15',
        clip_duration_seconds: 2.0,
        monitor_duration_seconds: 10_000_000,
        trigger_cooldown_seconds: 3600,
        max_triggers: null,
        enable_prefilter: 'false',
        unknown_field: 1,
      });
      const { config = {} } = await readJob(target.api, jobId);
      const { monitor_duration_seconds: duration } = config;
      assert.ok(
        typeof duration === 'number' && duration >= 5 && duration <= 86_400,
        `duration ${String(duration)}`,
      );
      assert.deepEqual(
        [config['interval_seconds'], config['clip_duration_seconds'], config['trigger_cooldown_seconds']],
        [15, 2, 3600],
      );
      assert.deepEqual([config['max_triggers'], config['enable_prefilter']], [null, false]);
    },
  },
  {
    id: 'monitor-triggers-once',
    title: 'a monitor with the default max_triggers 1 completes at the first match as condition_triggered',
    covers: [
      'I-1.7',
      'I-3.1',
      'I-3.4',
      'I-3.5',
      'I-4.2.9',
      'I-4.2.12',
      'I-2.1.1',
      'I-2.1.2',
      'I-2.1.3',
      'I-2.1.4',
      'I-2.1.5',
      'I-2.1.7',
      'I-2.1.8',
      'I-4.7.2',
    ],
    needs: ['stream'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const jobId = await createMonitor(target, { condition: target.conditions.holds });
      const job = await untilEnded(target.api, jobId, 60);
      assert.equal(job.job_id, jobId);
      assert.deepEqual([job.status, job.stats?.reason], ['completed', 'condition_triggered']);
      assert.deepEqual([job.stats?.triggers_fired, job.stats?.auto_stopped], [1, false]);
      assert.ok((job.stats?.checks_performed ?? 0) >= 1);
      assert.ok((job.stats?.watch_duration_seconds ?? -1) >= 0);
    },
  },
  {
    id: 'monitor-running',
    title: 'a monitor changes to running, and its stats grow while it runs',
    covers: ['I-3.1', 'I-3.4', 'I-2.1.7', 'I-2.1.8', 'I-4.2.4'],
    needs: ['stream'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const jobId = await createMonitor(target);
      await untilStatus(target.api, jobId, 'running', 30);
      const checks = (job: { stats?: { checks_performed?: number | undefined } | undefined }) =>
        job.stats?.checks_performed ?? 0;
      const job = await eventually(
        'two checks were performed',
        40,
        () => readJob(target.api, jobId),
        (read) => (checks(read) >= 2 ? read : undefined),
      );
      assert.equal(job.status, 'running');
      assert.equal(job.stats?.triggers_fired, 0);
      const seconds = job.stats?.watch_duration_seconds ?? 0;
      assert.ok(checks(job) <= 2 + seconds / 5, `${checks(job)} checks in ${seconds} s at 5 s`);
    },
  },
  {
    id: 'monitor-max-triggers',
    title: 'a monitor with max_triggers 2 alerts twice and completes as max_triggers_reached',
    covers: ['I-3.6', 'I-4.2.9'],
    needs: ['stream'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const jobId = await createMonitor(target, {
        condition: target.conditions.holds,
        max_triggers: 2,
        enable_prefilter: false,
      });
      const { status, stats } = await untilEnded(target.api, jobId, 60);
      assert.deepEqual(
        [status, stats?.reason, stats?.triggers_fired],
        ['completed', 'max_triggers_reached', 2],
      );
    },
  },
  {
    id: 'monitor-unlimited',
    title: 'a monitor with max_triggers null alerts until it is cancelled',
    covers: ['I-3.11', 'I-3.9', 'I-4.2.9', 'I-4.8.1', 'I-3.2'],
    needs: ['stream'],
    slots: 1,
    seconds: 25,
    run: async (target) => {
      const jobId = await createMonitor(target, {
        condition: target.conditions.holds,
        max_triggers: null,
        enable_prefilter: false,
      });
      const job = await eventually(
        'three alerts',
        60,
        () => readJob(target.api, jobId),
        (read) => ((read.stats?.triggers_fired ?? 0) >= 3 ? read : undefined),
      );
      assert.equal(job.status, 'running');
      await cancel(target.api, jobId);
      const stopped = await readJob(target.api, jobId);
      assert.deepEqual([stopped.status, stopped.stats?.reason], ['stopped', 'cancelled']);
      await sleep(7_000);
      assert.deepEqual((await readJob(target.api, jobId)).stats, stopped.stats);
    },
  },
  {
    id: 'monitor-duration',
    title: 'a monitor stops as max_duration_reached after its duration',
    covers: ['I-3.7', 'I-4.2.7', 'I-2.1.8'],
    needs: ['stream'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const jobId = await createMonitor(target, { monitor_duration_seconds: 6 });
      const { status, stats } = await untilEnded(target.api, jobId, 60);
      assert.deepEqual(
        [status, stats?.reason, stats?.auto_stopped],
        ['stopped', 'max_duration_reached', true],
      );
      const seconds = stats?.watch_duration_seconds ?? 0;
      assert.ok(seconds >= 6 && seconds < 30, `watched for ${seconds} s`);
    },
  },
  {
    id: 'monitor-prefilter',
    title: 'the pre-filter skips and counts most frames of a still scene, and without it they are judged',
    covers: ['I-1.12', 'I-1.13', 'I-1.14', 'I-4.2.14', 'I-2.1.8'],
    needs: ['own streams'],
    slots: 2,
    seconds: 40,
    run: async (target) => {
      const still = { stream_url: target.streams.still };
      const filtered = await createMonitor(target, still);
      const unfiltered = await createMonitor(target, { ...still, enable_prefilter: false });
      const skips = await untilCounts(target, filtered, ({ skipped }) => skipped >= 3);
      assert.ok(skips.judged >= 1 && skips.judged < skips.skipped, JSON.stringify(skips));
      const looks = await untilCounts(target, unfiltered, ({ judged }) => judged >= 3);
      assert.ok(looks.skipped < looks.judged, JSON.stringify(looks));
    },
  },
  ...['clip', 'hybrid'].map((mode): Case => ({
    id: `monitor-${mode}`,
    title: `a monitor in mode ${mode} triggers`,
    covers: ['I-1.16', 'I-4.2.5', 'I-4.2.6'],
    needs: ['stream'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const jobId = await createMonitor(target, {
        condition: target.conditions.holds,
        input_mode: mode,
        clip_duration_seconds: 1,
      });
      const { status, config } = await untilEnded(target.api, jobId, 60);
      assert.equal(status, 'completed');
      assert.equal(config?.['input_mode'], mode);
    },
  })),
  {
    id: 'monitor-rtsp',
    title: 'a monitor accepts an RTSP stream',
    covers: ['I-1.3', 'I-1.7'],
    needs: ['rtsp'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const fields = { stream_url: target.streams.rtsp, condition: target.conditions.holds };
      const { status } = await untilEnded(target.api, await createMonitor(target, fields), 60);
      assert.equal(status, 'completed');
    },
  },
  {
    id: 'job-retention',
    title: 'an ended job can be read until its retention ends, and then returns 404',
    covers: ['I-3.14', 'I-8.3', 'I-4.7.4'],
    needs: ['stream', 'retention'],
    slots: 1,
    seconds: 75,
    run: async (target) => {
      const jobId = await createMonitor(target);
      await cancel(target.api, jobId);
      await sleep((target.retentionSeconds - 10) * 1000);
      assert.ok(isTerminal((await readJob(target.api, jobId)).status));
      await eventually(
        'the job is deleted',
        40,
        () => target.api.call('GET', `/jobs/${jobId}`),
        ({ status }) => status === 404,
      );
    },
  },
];

type Counts = { judged: number; skipped: number };

function untilCounts(target: Target, jobId: string, reached: (counts: Counts) => boolean): Promise<Counts> {
  return eventually(
    'frames were judged or skipped',
    90,
    async () => {
      const { stats } = await readJob(target.api, jobId);
      return { judged: stats?.checks_performed ?? 0, skipped: stats?.frames_skipped ?? 0 };
    },
    (counts) => (reached(counts) ? counts : undefined),
  );
}
