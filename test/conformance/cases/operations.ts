import { Skipped, type Case, type Target } from '../case.ts';
import { assert, eventually, excerpt, invalid, ok } from '../expect.ts';
import { cancel, createMonitor, readJob } from '../jobs.ts';
import { logs, metrics } from '../shapes.ts';

/**
 * Cases of `GET /metrics` and `GET /logs` (sections 2.10, 2.11, 4.9, 4.10). Other cases run concurrently, so counters
 * may grow.
 */

const levels = ['DEBUG', 'INFO', 'WARNING', 'ERROR'];

export const operationsCases: Case[] = [
  {
    id: 'metrics-shape',
    title: 'metrics have the members of section 2.10, and the savings formula returns a percentage',
    covers: ['I-1.17', 'I-2.10.1', 'I-2.10.2', 'I-2.10.3', 'I-2.10.4', 'I-2.10.5', 'I-2.10.6', 'I-4.9.1'],
    needs: ['internal key'],
    run: async (target) => {
      const { started_at: startedAt, frames } = await readMetrics(target);
      assert.ok(Date.parse(startedAt) <= Date.now() + 60_000, startedAt);
      const all = frames.captured + frames.skipped_prefilter;
      const percent = all === 0 ? 0 : (frames.skipped_prefilter / all) * 100;
      assert.ok(percent >= 0 && percent <= 100, `${percent} %`);
    },
  },
  {
    id: 'metrics-count',
    title: 'a job that alerts a receiver increases the counters of jobs, providers, frames and webhooks',
    covers: ['I-2.10.2', 'I-2.10.3', 'I-2.10.4', 'I-2.10.5'],
    needs: ['internal key', 'stream', 'receiver'],
    slots: 1,
    seconds: 15,
    run: async (target) => {
      const before = await readMetrics(target);
      const inbox = target.receiver.open();
      const fields = { webhook_url: inbox.url, condition: target.conditions.holds };
      await createMonitor(target, fields);
      await inbox.until((all) => all.at(-1)?.body?.type === 'job_stopped', 60);
      await eventually(
        'all counters grew',
        30,
        () => readMetrics(target),
        (after) =>
          after.jobs.created > before.jobs.created &&
          after.jobs.completed > before.jobs.completed &&
          after.frames.captured > before.frames.captured &&
          calls(after) > calls(before) &&
          after.webhooks.sent >= before.webhooks.sent + 3,
      );
    },
  },
  {
    id: 'metrics-skipped',
    title: 'frames.skipped_prefilter counts the captures that the pre-filter skips',
    covers: ['I-2.10.4', 'I-2.10.6', 'I-1.14'],
    needs: ['internal key', 'own streams'],
    slots: 1,
    seconds: 25,
    run: async (target) => {
      const before = await readMetrics(target);
      const jobId = await createMonitor(target, { stream_url: target.streams.still });
      const skipped = await eventually(
        'a frame was skipped',
        90,
        () => readJob(target.api, jobId),
        ({ stats }) => (stats?.frames_skipped ?? 0) || undefined,
      );
      const after = await readMetrics(target);
      const counted = after.frames.skipped_prefilter - before.frames.skipped_prefilter;
      assert.ok(counted >= skipped, `skipped ${skipped}, counted ${counted}`);
    },
  },
  {
    id: 'logs-shape',
    title: 'logs have the shape of section 2.11, with at most 100 entries by default and a buffer of 500',
    covers: ['I-1.17', 'I-2.11.1', 'I-4.10.2', 'I-4.10.3', 'I-8.15'],
    needs: ['internal key'],
    run: async (target) => {
      const { total_in_buffer: total, returned, logs: entries } = await readLogs(target, '');
      assert.ok(total <= 500, `${total} in the buffer`);
      assert.equal(returned, entries.length);
      assert.ok(returned <= 100, `${returned} returned`);
      for (const { time } of entries) assert.ok(!Number.isNaN(Date.parse(time)), time);
    },
  },
  {
    id: 'logs-default-limit',
    title: 'logs return 100 of more than 100 entries by default',
    covers: ['I-4.10.2', 'I-8.15'],
    needs: ['internal key', 'stream'],
    slots: 1,
    seconds: 20,
    run: async (target) => {
      for (let jobs = 0; (await readLogs(target, '?limit=1')).total_in_buffer <= 100; jobs += 1) {
        if (jobs === 50) throw new Skipped('50 jobs did not leave more than 100 entries');
        await cancel(target.api, await createMonitor(target));
      }
      assert.equal((await readLogs(target, '')).returned, 100);
    },
  },
  {
    id: 'logs-limit',
    title: 'limit returns at most that many of the newest entries',
    covers: ['I-4.10.2', 'I-8.15'],
    needs: ['internal key', 'stream'],
    slots: 1,
    run: async (target) => {
      await createMonitor(target);
      const one = await readLogs(target, '?limit=1');
      assert.deepEqual([one.returned, one.logs.length], [1, 1]);
      const all = await readLogs(target, '?limit=500');
      assert.ok(all.returned >= 1 && all.returned <= 500, `${all.returned} returned`);
      const times = all.logs.map(({ time }) => Date.parse(time));
      const newest = Math.max(...times);
      assert.ok(Date.parse(one.logs[0]?.time ?? '') >= newest - 10_000, 'limit=1 is not the newest');
    },
  },
  {
    id: 'logs-level',
    title: 'level returns only entries of that level',
    covers: ['I-4.10.1'],
    needs: ['internal key'],
    run: async (target) => {
      for (const level of levels) {
        const { logs: entries } = await readLogs(target, `?level=${level}&limit=500`);
        const others = entries.filter((entry) => entry.level !== level);
        assert.deepEqual(others, [], `level=${level}`);
      }
    },
  },
  {
    id: 'logs-invalid',
    title: 'an unknown level, or a limit that is no number from 1 to 500, returns 422',
    covers: ['I-4.10.1', 'I-4.10.2', 'I-7.9'],
    needs: ['internal key', 'decisions'],
    run: async ({ internal }) => {
      invalid(await internal.call('GET', '/logs?level=LOUD'), 'level', 'level=LOUD');
      invalid(await internal.call('GET', '/logs?limit=x'), 'limit', 'limit=x');
      invalid(await internal.call('GET', '/logs?limit=0'), 'limit', 'limit=0');
      invalid(await internal.call('GET', '/logs?limit=501'), 'limit', 'limit=501');
      invalid(await internal.call('GET', '/logs?level=error'), 'level', 'level=error');
    },
  },
  {
    id: 'logs-prefix',
    title: 'messages about a job start with [JOB:<first 8 characters of its id>]',
    covers: ['I-2.11.2'],
    needs: ['internal key', 'stream'],
    slots: 1,
    seconds: 10,
    run: async (target) => {
      const jobId = await createMonitor(target);
      await eventually(
        `an entry with [JOB:${jobId.slice(0, 8)}]`,
        30,
        () => readLogs(target, '?limit=500'),
        ({ logs: entries }) => entries.some(({ message }) => message.includes(`[JOB:${jobId.slice(0, 8)}]`)),
      );
    },
  },
  {
    id: 'logs-secrets',
    title: 'the logs contain no key',
    covers: ['I-5.7'],
    needs: ['internal key'],
    run: async (target) => {
      const text = JSON.stringify(await readLogs(target, '?limit=500'));
      for (const { key } of [target.api, target.internal])
        assert.ok(!text.includes(key.slice(12)), excerpt('the logs contain a key'));
    },
  },
];

async function readMetrics({ internal }: Target) {
  return ok(await internal.call('GET', '/metrics'), metrics, 'GET /metrics');
}

async function readLogs({ internal }: Target, query: string) {
  return ok(await internal.call('GET', `/logs${query}`), logs, `GET /logs${query}`);
}

function calls({ providers }: Awaited<ReturnType<typeof readMetrics>>): number {
  return Object.values(providers).reduce((sum, { calls }) => sum + calls, 0);
}
