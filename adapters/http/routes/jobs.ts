import { Hono } from 'hono';
import { WatchpostError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/operations/end-job.ts';
import { linkedEnvelope } from '../../../core/operations/present-event.ts';
import { jobDetail, jobStats, jobSummary } from '../../../core/operations/present-job.ts';
import { getJob, listJobs, readEvents, readPicture } from '../../../core/operations/read-jobs.ts';
import {
  eventsQuerySchema,
  jobListQuerySchema,
  jobPathSchema,
  mediaPathSchema,
} from '../../../core/requests/jobs.ts';
import type { HttpCollaborators } from '../app.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { valid } from '../valid.ts';

/** Reading and cancelling jobs (interface sections 4.6 to 4.8) and their log as JSON (design section 9). */
export function jobRoutes(c: HttpCollaborators) {
  return new Hono<AuthEnv>()
    .get('/jobs', valid('query', jobListQuerySchema), async (context) => {
      const { limit, offset, status, job_type: jobType } = context.req.valid('query');
      const { jobs, total } = await listJobs(
        {
          caller: context.get('key').caller,
          limit,
          offset,
          ...(status ? { status } : {}),
          ...(jobType ? { jobType } : {}),
        },
        c,
      );
      return context.json({ jobs: jobs.map((job) => jobSummary(job)), total, limit, offset });
    })
    .get('/jobs/:job_id', valid('param', jobPathSchema), async (context) => {
      const reading = await getJob(context.req.valid('param').job_id, context.get('key').caller, c);
      return context.json(jobDetail(reading, c.baseUrl, c.now()));
    })
    .delete('/jobs/:job_id', valid('param', jobPathSchema), async (context) => {
      const job = await cancelJob(context.req.valid('param').job_id, context.get('key').caller, c);
      return context.json({
        job_id: job.job_id,
        status: job.status,
        message: 'Job stopped',
        final_stats: jobStats(job, c.now()),
      });
    })
    .get(
      '/jobs/:job_id/events',
      valid('param', jobPathSchema),
      valid('query', eventsQuerySchema),
      async (context) => {
        const { after, limit } = context.req.valid('query');
        const jobId = context.req.valid('param').job_id;
        const { job, events } = await readEvents(jobId, context.get('key').caller, after, limit, c);
        const last = events.at(-1)?.sequence ?? after;
        return context.json({
          job_id: jobId,
          status: job.status,
          events: events.map((event) => linkedEnvelope(job, event, c)),
          next_after: last,
          has_more: last < job.sequence,
        });
      },
    )
    .get('/jobs/:job_id/media/:sequence', valid('param', mediaPathSchema), async (context) => {
      const { job_id: jobId, sequence } = context.req.valid('param');
      const picture = await readPicture(jobId, context.get('key').caller, sequence, c);
      if (!picture) throw noPicture();
      return context.body(new Uint8Array(picture), 200, {
        'Content-Type': 'image/jpeg',
        'Cache-Control': 'private, max-age=3600',
      });
    });
}

function noPicture(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'This event has no picture',
    'Pictures belong to watch_triggered events and are kept for a day: take frame_url from GET /jobs/{job_id}/events.',
  );
}
