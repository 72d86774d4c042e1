import type { Api } from './api.ts';
import { Skipped, type Target } from './case.ts';
import { eventually, ok } from './expect.ts';
import { jobCreated, jobDetail } from './shapes.ts';
import type { z } from 'zod';

/** Helpers for jobs. */

export type JobDetail = z.infer<typeof jobDetail>;

/** Returns a request for a monitor that never triggers by default. */
export function monitorBody(target: Target, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    stream_url: target.streams.live,
    condition: target.conditions.fails,
    input_mode: 'frames',
    interval_seconds: 5,
    ...fields,
  };
}

/** Creates a monitor. Throws `Skipped` if the model does not support video. */
export async function createMonitor(target: Target, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await target.api.call('POST', '/live-monitor', monitorBody(target, fields));
  if (answer.body?.error?.code === 'INVALID_INPUT_MODE')
    throw new Skipped('The model of the service does not support video');
  return ok(answer, jobCreated, 'POST /live-monitor').job_id;
}

/** Creates a digest. */
export async function createDigest(target: Target, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await target.api.call('POST', '/live-digest', {
    stream_url: target.streams.live,
    ...fields,
  });
  return ok(answer, jobCreated, 'POST /live-digest').job_id;
}

/** Reads a job and validates its shape. */
export async function readJob(api: Api, jobId: string): Promise<JobDetail> {
  return ok(await api.call('GET', `/jobs/${jobId}`), jobDetail, 'GET /jobs/{job_id}');
}

export function cancel(api: Api, jobId: string) {
  return api.call('DELETE', `/jobs/${jobId}`);
}

/** Waits until a job has the status. */
export function untilStatus(api: Api, jobId: string, status: string, withinSeconds: number) {
  return eventually(
    `job is ${status}`,
    withinSeconds,
    () => readJob(api, jobId),
    (job) => (job.status === status ? job : undefined),
  );
}

/** Waits until a job has ended. */
export function untilEnded(api: Api, jobId: string, withinSeconds: number): Promise<JobDetail> {
  return eventually(
    'job has ended',
    withinSeconds,
    () => readJob(api, jobId),
    (job) => (isTerminal(job.status) ? job : undefined),
  );
}

export function isTerminal(status: string): boolean {
  return ['completed', 'stopped', 'failed'].includes(status);
}

/** UUID of no job. */
export const unknownJobId = '00000000-0000-4000-8000-000000000000';
