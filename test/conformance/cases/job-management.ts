import type { Answer } from '../api.ts';
import { slotsOfCaller, type Case, type Target } from '../case.ts';
import { assert, invalid, ok, refused, shaped } from '../expect.ts';
import {
  cancel,
  createDigest,
  createMonitor,
  isTerminal,
  monitorBody,
  readJob,
  unknownJobId,
} from '../jobs.ts';
import { cancelled, jobCreated, jobList } from '../shapes.ts';

/** Cases of listing, reading and cancelling jobs, and of the limit of ten (sections 4.6 to 4.8, 8). */

const notFound = { status: 404, message: 'Job not found' };

export const jobCases: Case[] = [
  {
    id: 'jobs-list',
    title: 'the list has the shape of section 2.3 and contains the jobs of the caller, newest first',
    covers: ['I-1.11', 'I-2.3.1', 'I-2.3.2', 'I-2.2.1', 'I-4.6.1', 'I-4.6.3'],
    needs: ['stream'],
    slots: 2,
    run: async (target) => {
      const first = await createMonitor(target);
      const second = await createDigest(target);
      const { jobs, total } = await list(target, '');
      assert.ok(total >= 2);
      const ids = jobs.map((job) => job.job_id);
      assert.ok(ids.includes(first) && ids.includes(second), 'the list omits a job');
      const times = jobs.map((job) => Date.parse(job.created_at));
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      );
    },
  },
  {
    id: 'jobs-filters',
    title: 'status and job_type filter the list, and total counts the matching jobs',
    covers: ['I-4.6.2', 'I-2.3.2'],
    needs: ['stream', 'decisions'],
    slots: slotsOfCaller,
    run: async (target) => {
      const monitor = await createMonitor(target);
      const digest = await createDigest(target);
      const stopped = await createMonitor(target);
      await cancel(target.api, stopped);
      const ids = async (query: string) => {
        const { jobs, total } = await list(target, `?limit=100&${query}`);
        assert.ok(total >= jobs.length && (total > 100 || total === jobs.length), `total ${total}`);
        return jobs;
      };
      const monitors = await ids('job_type=live-monitor');
      assert.ok(monitors.every((job) => job.job_type === 'live-monitor'));
      assert.ok([monitor, stopped].every((id) => monitors.some((job) => job.job_id === id)));
      const ended = await ids('status=stopped');
      assert.ok(ended.every((job) => job.status === 'stopped'));
      assert.ok(ended.some((job) => job.job_id === stopped));
      const both = await ids('status=stopped&job_type=live-digest');
      assert.ok(both.every((job) => job.status === 'stopped' && job.job_type === 'live-digest'));
      assert.ok(!both.some((job) => job.job_id === digest));
    },
  },
  {
    id: 'jobs-pages',
    title: 'limit and offset page through the list without gaps or repetitions',
    covers: ['I-4.6.3', 'I-2.3.2'],
    needs: ['stream', 'decisions'],
    slots: slotsOfCaller,
    run: async (target) => {
      for (let made = 0; made < 3; made += 1) await createMonitor(target);
      const whole = await list(target, '?limit=100');
      assert.deepEqual([whole.limit, whole.offset], [100, 0]);
      assert.equal((await list(target, '')).limit, 20);
      const pages = [];
      for (const offset of [0, 1, 2]) {
        const page = await list(target, `?limit=1&offset=${offset}`);
        assert.deepEqual([page.jobs.length, page.limit, page.offset], [1, 1, offset]);
        assert.equal(page.total, whole.total);
        pages.push(page.jobs[0]?.job_id);
      }
      assert.deepEqual(
        pages,
        whole.jobs.slice(0, 3).map((job) => job.job_id),
      );
      assert.deepEqual((await list(target, `?offset=${whole.total}`)).jobs, []);
    },
  },
  {
    id: 'jobs-query-invalid',
    title: 'an invalid query returns 422 with loc from query',
    covers: ['I-2.9.1', 'I-7.9', 'I-4.6.3'],
    needs: ['decisions'],
    run: async ({ api }) => {
      const wrong = {
        limit: ['0', '101', 'x'],
        offset: ['-1', 'x'],
        status: ['gone'],
        job_type: ['monitor'],
      };
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const what = `${name}=${value}`;
          const entry = invalid(await api.call('GET', `/jobs?${name}=${value}`), name, what);
          assert.deepEqual(entry.loc, ['query', name], what);
        }
      }
    },
  },
  {
    id: 'job-cancel',
    title: 'a cancellation returns the shape of section 2.4 and stops the job as cancelled',
    covers: ['I-1.11', 'I-2.4.1', 'I-2.4.2', 'I-3.9', 'I-4.8.1'],
    needs: ['stream'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target);
      const answer = ok(await cancel(target.api, jobId), cancelled, 'DELETE /jobs/{job_id}');
      assert.deepEqual([answer.job_id, answer.status], [jobId, 'stopped']);
      assert.equal(answer.final_stats['reason'], 'cancelled');
      const { status, stats } = await readJob(target.api, jobId);
      assert.deepEqual([status, stats?.reason, stats?.auto_stopped], ['stopped', 'cancelled', false]);
    },
  },
  {
    id: 'job-cancel-pending',
    title: 'a pending job can be cancelled immediately after its creation',
    covers: ['I-3.13', 'I-3.9'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target);
      const { status } = await cancel(target.api, jobId);
      assert.equal(status, 200);
      assert.ok(isTerminal((await readJob(target.api, jobId)).status));
    },
  },
  {
    id: 'job-cancel-twice',
    title: 'a cancellation of an ended job returns 400 Job is already stopped',
    covers: ['I-4.8.2', 'I-7.11', 'I-3.2', 'I-2.8.1'],
    needs: ['stream'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target);
      await cancel(target.api, jobId);
      const again = await cancel(target.api, jobId);
      refused(again, { status: 400, message: 'Job is already stopped' }, 'DELETE again');
    },
  },
  {
    id: 'job-unknown',
    title: 'an unknown job returns 404 Job not found',
    covers: ['I-4.7.4', 'I-4.8.2', 'I-7.11', 'I-2.8.1'],
    run: async ({ api }) => {
      for (const method of ['GET', 'DELETE'])
        refused(await api.call(method, `/jobs/${unknownJobId}`), notFound, method);
    },
  },
  {
    id: 'job-id-no-uuid',
    title: 'a job_id that is not a UUID returns 422',
    covers: ['I-4.7.1', 'I-4.7.3', 'I-4.7.4', 'I-4.8.2', 'I-7.9', 'I-2.9.1'],
    run: async ({ api }) => {
      for (const method of ['GET', 'DELETE'])
        for (const id of ['nonsense', '123', `${unknownJobId}0`])
          invalid(await api.call(method, `/jobs/${id}`), 'job_id', `${method} ${id}`);
    },
  },
  {
    id: 'job-codes',
    title: 'the codes are JOB_NOT_FOUND and JOB_ALREADY_STOPPED, and an invalid id is named at path',
    covers: ['I-7.11', 'I-2.9.1'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const { api } = target;
      const missing = await api.call('GET', `/jobs/${unknownJobId}`);
      refused(missing, { ...notFound, code: 'JOB_NOT_FOUND' }, 'GET');
      const jobId = await createMonitor(target);
      await cancel(api, jobId);
      refused(await cancel(api, jobId), { status: 400, code: 'JOB_ALREADY_STOPPED' }, 'DELETE again');
      const entry = invalid(await api.call('GET', '/jobs/nonsense'), 'job_id', 'GET /jobs/nonsense');
      assert.deepEqual(entry.loc, ['path', 'job_id']);
    },
  },
  {
    id: 'job-of-another-caller',
    title: 'a caller cannot read, list or cancel the job of another caller',
    covers: ['I-4.6.1', 'I-4.7.4', 'I-4.8.2'],
    needs: ['stream', 'second caller'],
    slots: 1,
    run: async (target) => {
      const jobId = await createMonitor(target);
      for (const path of [`/jobs/${jobId}`, `/jobs/${jobId}/frame`])
        refused(await target.other.call('GET', path), notFound, path);
      refused(await cancel(target.other, jobId), notFound, 'DELETE');
      const { jobs } = shaped(jobList, (await target.other.call('GET', '/jobs?limit=100')).body, 'list');
      assert.ok(!jobs.some((job) => job.job_id === jobId));
      assert.ok(!isTerminal((await readJob(target.api, jobId)).status));
    },
  },
  {
    id: 'max-jobs',
    title: 'of twelve concurrent creations ten are accepted, and another one after a cancellation',
    covers: ['I-7.6', 'I-8.1', 'I-2.8.1', 'I-7.1'],
    needs: ['stream'],
    slots: slotsOfCaller,
    seconds: 15,
    run: async (target) => {
      const ask = (): Promise<Answer> => target.api.call('POST', '/live-monitor', monitorBody(target));
      const answers = await Promise.all(Array.from({ length: 12 }, ask));
      const accepted = answers.filter(({ status }) => status === 200);
      assert.equal(accepted.length, slotsOfCaller, answers.map(({ status }) => status).join());
      const full = { status: 429, code: 'MAX_JOBS_REACHED', message: 'Maximum concurrent jobs reached' };
      for (const answer of answers) if (answer.status !== 200) refused(answer, full, 'one too many');
      refused(await ask(), full, 'one too many');
      const digest = await target.api.call('POST', '/live-digest', { stream_url: target.streams.live });
      refused(digest, full, 'a digest too many');
      await cancel(target.api, accepted[0]?.body.job_id);
      ok(await ask(), jobCreated, 'after one was cancelled');
    },
  },
  {
    id: 'idempotency',
    title: 'a repeated Idempotency-Key returns the same job, and 422 for another body',
    covers: ['I-3.3'],
    needs: ['stream', 'decisions'],
    slots: 1,
    run: async (target) => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const ask = (fields = {}) =>
        target.api.call('POST', '/live-monitor', monitorBody(target, fields), { headers });
      const first = ok(await ask(), jobCreated, 'first');
      const second = ok(await ask(), jobCreated, 'second');
      assert.equal(second.job_id, first.job_id);
      assert.equal((await ask({ interval_seconds: 6 })).status, 422);
    },
  },
];

async function list({ api }: Target, query: string) {
  return ok(await api.call('GET', `/jobs${query}`), jobList, `GET /jobs${query}`);
}
