import type { Api, JobQuery } from '../api/api.ts';
import { Problem } from '../api/problem.ts';
import type { JobDetail, JobSummary } from '../api/types.ts';
import { isActive } from './job-labels.ts';

/** Job with its detail; `detail` is undefined if the job expired in between. */
export type JobRow = { job: JobSummary; detail: JobDetail | undefined };
/** Page of jobs; `total` counts the jobs of all pages. */
export type JobRows = { rows: JobRow[]; total: number };

/**
 * Creates a loader of job pages with statistics. The list has none, so the loader reads each job; ended jobs are read
 * once, because their statistics are final.
 */
export function createJobLoader(api: Api) {
  const ended = new Map<string, JobDetail>();

  const readDetail = async (job: JobSummary, signal: AbortSignal): Promise<JobDetail | undefined> => {
    const known = ended.get(job.job_id);
    if (known) return known;
    try {
      const detail = await api.job(job.job_id, signal);
      if (!isActive(detail.status)) ended.set(job.job_id, detail);
      return detail;
    } catch (error) {
      // The job expired after the list was read.
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    }
  };

  return async (query: JobQuery, signal: AbortSignal): Promise<JobRows> => {
    const { jobs, total } = await api.jobs(query, signal);
    const details = await Promise.all(jobs.map((job) => readDetail(job, signal)));
    return { rows: jobs.map((job, index) => ({ job, detail: details[index] })), total };
  };
}
