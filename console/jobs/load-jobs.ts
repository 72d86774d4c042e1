import type { Api, JobQuery } from '../api/api.ts';
import { Problem } from '../api/problem.ts';
import type { JobDetail, JobSummary } from '../api/types.ts';
import { isActive } from './job-words.ts';

export type JobRow = { job: JobSummary; detail: JobDetail | undefined };
export type JobRows = { rows: JobRow[]; total: number };

/**
 * A page of jobs with the numbers of each. The list has none, so each job of the page is read; one that has ended only
 * once, since its numbers stay.
 */
export function createJobLoader(api: Api) {
  const ended = new Map<string, JobDetail>();

  const detailOf = async (job: JobSummary, signal: AbortSignal): Promise<JobDetail | undefined> => {
    const known = ended.get(job.job_id);
    if (known) return known;
    try {
      const detail = await api.job(job.job_id, signal);
      if (!isActive(detail.status)) ended.set(job.job_id, detail);
      return detail;
    } catch (error) {
      // Removed between the list and its reading.
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    }
  };

  return async (query: JobQuery, signal: AbortSignal): Promise<JobRows> => {
    const { jobs, total } = await api.jobs(query, signal);
    const details = await Promise.all(jobs.map((job) => detailOf(job, signal)));
    return { rows: jobs.map((job, index) => ({ job, detail: details[index] })), total };
  };
}
