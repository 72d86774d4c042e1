import { z } from 'zod';
import { WatchpostError } from '../../../core/errors.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { eventPage } from '../../../core/event/present-event.ts';
import { jobDetail, jobStats, jobSummary } from '../../../core/job/present-job.ts';
import {
  getJob,
  listJobs,
  requireOwnJob,
  readEvents,
  readLastFrame,
  readEventImage,
} from '../../../core/job/read-jobs.ts';
import {
  eventsQuerySchema,
  jobListQuerySchema,
  jobPathSchema,
  mediaPathSchema,
  mediaQuerySchema,
} from '../../../core/requests/jobs.ts';
import { toPolicy } from '../../../core/records/job-type.ts';
import { eventPageSchema } from '../../../core/responses/events.ts';
import {
  cancelResponseSchema,
  jobDetailSchema,
  jobListResponseSchema,
} from '../../../core/responses/jobs.ts';
import * as eventExamples from '../../openapi/examples/events.ts';
import * as examples from '../../openapi/examples/jobs.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventsResponse, jpegResponse, jsonResponse } from '../endpoint-response.ts';
import { respondWithEvents } from '../sse/stream-job.ts';
import { wantsEvents } from '../sse/messages.ts';

/**
 * Endpoints that read and cancel jobs, and that return their event log as JSON or as an event
 * stream.
 */

const shared = { tag: 'jobs', scope: 'read' } as const;
const jobExample = { job_id: examples.jobId };

const listJobsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'list_jobs',
    method: 'get',
    path: '/jobs',
    title: 'List jobs',
    description:
      'Returns your monitors and digests, newest first. A finished job is listed until its retention ends (`GET /service`).',
    effect: 'reads',
    request: { query: jobListQuerySchema },
    response: jsonResponse(jobListResponseSchema, { description: 'One page of jobs' }),
    errors: [],
    examples: { response: { jobs: examples.jobList } },
  },
  async ({ query: { limit, offset, status, job_type: jobType, label }, caller }, deps) => {
    const filter = {
      ...(status ? { status } : {}),
      ...(jobType ? { policy: toPolicy(jobType) } : {}),
      ...(label ? { label } : {}),
    };
    const { jobs, total } = await listJobs({ caller, limit, offset, ...filter }, deps);
    return { jobs: jobs.map((job) => jobSummary(job)), total, limit, offset };
  },
);

const getJobEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'get_job',
    method: 'get',
    path: '/jobs/{job_id}',
    title: 'Read a job',
    description:
      'Returns the effective settings and the counters of a job, and the reason of its end (`stats.reason`).',
    effect: 'reads',
    request: { parameters: jobPathSchema },
    response: jsonResponse(jobDetailSchema, { description: 'The job' }),
    errors: ['JOB_NOT_FOUND'],
    examples: { parameters: jobExample, response: { running: examples.runningJob } },
  },
  async ({ parameters, caller }, deps) =>
    jobDetail(await getJob(parameters.job_id, caller, deps), deps.baseUrl, deps.now()),
);

const cancelJobEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'cancel_job',
    scope: 'jobs',
    method: 'delete',
    path: '/jobs/{job_id}',
    title: 'Stop a job',
    description: 'Ends the job with the reason `cancelled` and releases its slot.',
    effect: 'removes',
    // Includes 10 s for the last summary of a digest.
    timeBudgetSeconds: 20,
    request: { parameters: jobPathSchema },
    response: jsonResponse(cancelResponseSchema, { description: 'The ended job' }),
    errors: ['JOB_NOT_FOUND', 'JOB_ALREADY_STOPPED'],
    examples: { parameters: jobExample, response: { cancelled: examples.cancelledJob } },
  },
  async ({ parameters, caller }, deps) => {
    const job = await cancelJob(parameters.job_id, caller, deps);
    return {
      job_id: job.run_id,
      status: job.status,
      message: 'Job stopped',
      final_stats: jobStats(job, deps.now()),
    };
  },
);

const jobEventsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'job_events',
    method: 'get',
    path: '/jobs/{job_id}/events',
    title: "Read a job's events",
    description:
      'Returns the event log in order: pages of JSON, or server-sent events with `Accept: text/event-stream`. In an event stream, `Last-Event-ID` resumes after that event.',
    effect: 'reads',
    tool: {
      description:
        'Returns the events of a job in order, in pages. Send next_after of a page as after for the next one.',
      withoutHeaders: ['Last-Event-ID'],
    },
    request: {
      parameters: jobPathSchema,
      query: eventsQuerySchema,
      headers: z.object({
        'Last-Event-ID': z
          .string()
          .optional()
          .describe('Last id of the previous event stream; the stream resumes after it'),
      }),
    },
    response: eventsResponse(eventPageSchema, {
      description: 'One page of events, or an event stream',
      asEvents: {
        description:
          'Events `started`, `progress`, `triggered`, `summary`, `stopped` and `error`; the last two end the stream. Each `data:` line is one StreamedEvent, each `id:` its sequence. A comment every 15 s keeps the connection.',
        example: eventExamples.monitorStream,
        ends: 'The log has ended with `Last-Event-ID`: do not reconnect',
      },
    }),
    errors: ['JOB_NOT_FOUND'],
    examples: { parameters: jobExample, response: { page: eventExamples.eventPage } },
  },
  async ({ parameters, query: { after, limit }, caller, context, setHeader }, deps) => {
    setHeader('Vary', 'Accept');
    const jobId = parameters.job_id;
    if (wantsEvents(context))
      return respondWithEvents(context, await requireOwnJob(jobId, caller, deps), deps, { after });
    const { job, events } = await readEvents(jobId, caller, after, limit, deps);
    return eventPage(job, after, events, deps);
  },
);

const jobFrameEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'job_frame',
    method: 'get',
    path: '/jobs/{job_id}/frame',
    title: "Get a job's newest picture",
    description: 'Returns the frame of the last capture, also if the pre-filter skipped it.',
    effect: 'reads',
    request: { parameters: jobPathSchema },
    response: jpegResponse({ description: 'The picture', cacheControl: 'private, no-cache' }),
    errors: ['JOB_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: jobExample },
  },
  async ({ parameters, caller }, deps) => {
    const frame = await readLastFrame(parameters.job_id, caller, deps);
    if (!frame) throw noFrame();
    return frame;
  },
);

const jobPictureEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'job_picture',
    method: 'get',
    path: '/jobs/{job_id}/media/{sequence}',
    title: "Get an event's picture",
    description:
      'Returns the evidence of an alert, or the frame grid of a summary. With `boxes=true`, the boxes of the objects are drawn on a copy. Images are stored as long as the job.',
    effect: 'reads',
    request: { parameters: mediaPathSchema, query: mediaQuerySchema },
    response: jpegResponse({ description: 'The picture', cacheControl: 'private, max-age=3600' }),
    errors: ['JOB_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: { ...jobExample, sequence: 4 } },
  },
  async ({ parameters: { job_id: jobId, sequence }, query: { boxes }, caller }, deps) => {
    const picture = await readEventImage(jobId, caller, sequence, deps, boxes);
    if (!picture) throw noPicture();
    return picture;
  },
);

export const jobEndpoints = [
  listJobsEndpoint,
  getJobEndpoint,
  cancelJobEndpoint,
  jobEventsEndpoint,
  jobFrameEndpoint,
  jobPictureEndpoint,
];

function noFrame(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'No frame was captured yet',
    'Try again after the first capture (stats.last_frame_at of the job). Frames are stored as long as the job.',
  );
}

function noPicture(): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    'This event has no image',
    'Use the links from GET /jobs/{job_id}/events. Only alerts and summaries with include_frames have images, which are stored as long as the job.',
  );
}
