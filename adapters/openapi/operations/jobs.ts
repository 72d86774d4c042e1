import { z } from 'zod';
import {
  eventsQuerySchema,
  jobListQuerySchema,
  jobPathSchema,
  mediaPathSchema,
} from '../../../core/requests/jobs.ts';
import { eventPageSchema } from '../../../core/responses/events.ts';
import {
  cancelResponseSchema,
  jobDetailSchema,
  jobListResponseSchema,
} from '../../../core/responses/jobs.ts';
import { eventPage, monitorStream } from '../examples/events.ts';
import { cancelledJob, jobId, jobList, runningJob } from '../examples/jobs.ts';
import type { Operation } from '../operation.ts';

const byId = { parameters: jobPathSchema, tag: 'jobs', scope: 'jobs' } as const;

export const jobOperations: Operation[] = [
  {
    id: 'list_jobs',
    method: 'get',
    path: '/jobs',
    tag: 'jobs',
    title: 'List jobs',
    description: 'Your monitors and digests, newest first. A finished job is listed for about an hour.',
    scope: 'jobs',
    effect: 'reads',
    query: jobListQuerySchema,
    answer: { kind: 'json', description: 'One page of jobs', schema: jobListResponseSchema },
    errors: [],
    examples: { answer: { jobs: jobList } },
  },
  {
    ...byId,
    id: 'get_job',
    method: 'get',
    path: '/jobs/{job_id}',
    title: 'Read a job',
    description:
      'Its settings as they hold, and its numbers so far; once it has ended, why (`stats.reason`).',
    effect: 'reads',
    answer: { kind: 'json', description: 'The job', schema: jobDetailSchema },
    errors: ['JOB_NOT_FOUND'],
    examples: { parameters: { job_id: jobId }, answer: { running: runningJob } },
  },
  {
    ...byId,
    id: 'cancel_job',
    method: 'delete',
    path: '/jobs/{job_id}',
    title: 'Stop a job',
    description: 'Ends it with the reason `cancelled` and frees its place.',
    effect: 'removes',
    answer: { kind: 'json', description: 'The job as it ended', schema: cancelResponseSchema },
    errors: ['JOB_NOT_FOUND', 'JOB_ALREADY_STOPPED'],
    examples: { parameters: { job_id: jobId }, answer: { cancelled: cancelledJob } },
  },
  {
    ...byId,
    id: 'job_events',
    method: 'get',
    path: '/jobs/{job_id}/events',
    title: "Read a job's events",
    description:
      'Its ordered log, as pages of JSON, or as server-sent events with `Accept: text/event-stream`; there, `Last-Event-ID` resumes where a reader was cut off.',
    effect: 'reads',
    query: eventsQuerySchema,
    headers: z.object({
      'Last-Event-ID': z.string().optional().describe('The last id that an event stream has brought'),
    }),
    answer: {
      kind: 'json',
      description: 'One page of events, or the stream of them',
      schema: eventPageSchema,
      asEvents: {
        description:
          'Events `started`, `progress`, `triggered`, `summary`, `stopped` and `error`; the last two end the stream. Each `data:` line is one StreamedEvent, each `id:` its sequence. A comment every 15 s keeps the connection.',
        example: monitorStream,
        ends: 'The log is over and `Last-Event-ID` was its end: do not come back',
      },
    },
    errors: ['JOB_NOT_FOUND', 'RATE_LIMITED'],
    examples: { parameters: { job_id: jobId }, answer: { page: eventPage } },
  },
  {
    ...byId,
    id: 'job_frame',
    method: 'get',
    path: '/jobs/{job_id}/frame',
    title: "Get a job's newest picture",
    description: 'What the last check saw, whether the model was asked about it or not.',
    effect: 'reads',
    answer: { kind: 'jpeg', description: 'The picture' },
    errors: ['JOB_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: { job_id: jobId } },
  },
  {
    ...byId,
    id: 'job_picture',
    method: 'get',
    path: '/jobs/{job_id}/media/{sequence}',
    title: "Get an event's picture",
    description:
      'The evidence of an alert, or the contact sheet of a summary. Pictures are kept while the job is, at most a day.',
    parameters: mediaPathSchema,
    effect: 'reads',
    answer: { kind: 'jpeg', description: 'The picture' },
    errors: ['JOB_NOT_FOUND', 'NOT_FOUND'],
    examples: { parameters: { job_id: jobId, sequence: 4 } },
  },
];
