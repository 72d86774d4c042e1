import { Hono } from 'hono';
import { WatchpostError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/operations/end-job.ts';
import { eventPage } from '../../../core/operations/event-page.ts';
import { jobDetail, jobStats, jobSummary } from '../../../core/operations/present-job.ts';
import {
  getJob,
  listJobs,
  ownJob,
  readEvents,
  readLastFrame,
  readPicture,
} from '../../../core/operations/read-jobs.ts';
import {
  eventsQuerySchema,
  jobListQuerySchema,
  jobPathSchema,
  mediaPathSchema,
} from '../../../core/requests/jobs.ts';
import type { HttpCollaborators } from '../collaborators.ts';
import type { AuthEnv } from '../bearer-auth.ts';
import { respondWithEvents } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/wants-events.ts';
import { valid } from '../valid.ts';

/** Reading and cancelling jobs (interface sections 4.6 to 4.8) and their log as JSON or as an event stream (design section 9). */
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
        const caller = context.get('key').caller;
        context.header('Vary', 'Accept');
        if (wantsEvents(context))
          return respondWithEvents(context, await ownJob(jobId, caller, c), c, { after });
        const { job, events } = await readEvents(jobId, caller, after, limit, c);
        return context.json(eventPage(job, after, events, c));
      },
    )
    .get('/jobs/:job_id/frame', valid('param', jobPathSchema), async (context) => {
      const frame = await readLastFrame(context.req.valid('param').job_id, context.get('key').caller, c);
      if (!frame) throw noFrame();
      return context.body(new Uint8Array(frame), 200, {
        ...pictureHeaders,
        'Cache-Control': 'private, no-cache',
      });
    })
    .get('/jobs/:job_id/media/:sequence', valid('param', mediaPathSchema), async (context) => {
      const { job_id: jobId, sequence } = context.req.valid('param');
      const picture = await readPicture(jobId, context.get('key').caller, sequence, c);
      if (!picture) throw noPicture();
      return context.body(new Uint8Array(picture), 200, {
        ...pictureHeaders,
        'Cache-Control': 'private, max-age=3600',
      });
    });
}

/** A browser's cache must not give one key's picture to another key at the same address. */
const pictureHeaders = { 'Content-Type': 'image/jpeg', Vary: 'Authorization' };

function noFrame(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'No picture was taken yet',
    'Come back after the first check (stats.last_frame_at of the job). Pictures are kept for a day.',
  );
}

function noPicture(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'This event has no picture',
    'Alerts have one, and summaries with include_frames; they are kept for a day. Take their links from GET /jobs/{job_id}/events.',
  );
}
