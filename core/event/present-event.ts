import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { toErrorCode } from '../responses/errors.ts';
import { jobTypes } from '../records/job-type.ts';
import type { loggedEventSchema, streamedEventSchema } from '../responses/events.ts';

type Links = Pick<CoreDeps, 'baseUrl'>;
type Pictures = Pick<CoreDeps, 'baseUrl'> & { media: Pick<CoreDeps['media'], 'get'> };

/** Event in a page of the log; images are links (interface section 6.1). */
export type LinkedEvent = z.input<typeof loggedEventSchema>;
/** Event in a webhook or event stream; images are base64. */
export type EventEnvelope = z.input<typeof streamedEventSchema>;

/** Returns an event for a page of the log. Images are links. */
export function envelopeWithLinks(job: Job, event: JobEvent, { baseUrl }: Links): LinkedEvent {
  const link = `${baseUrl}/jobs/${job.run_id}/media/${event.sequence}`;
  const shared = envelope(job, event);
  switch (event.type) {
    case 'watch_triggered': {
      const { frame_key: _, ...data } = event.data;
      return { type: event.type, ...shared, data: { ...position(job, event), ...data, frame_url: link } };
    }
    case 'summary_generated': {
      const { frame_grid_key: key, ...data } = event.data;
      const image = key === undefined ? {} : { frame_grid_url: link };
      return { type: event.type, ...shared, data: { ...position(job, event), ...data, ...image } };
    }
    default:
      return withoutImage(job, event, baseUrl);
  }
}

/** Returns an event for webhooks and event streams. Images are base64, `null` if expired. */
export async function envelopeWithImages(job: Job, event: JobEvent, deps: Pictures): Promise<EventEnvelope> {
  const shared = envelope(job, event);
  switch (event.type) {
    case 'watch_triggered': {
      const { frame_key: key, ...data } = event.data;
      const image = { frame_b64: await readBase64(key, deps) };
      return { type: event.type, ...shared, data: { ...position(job, event), ...data, ...image } };
    }
    case 'summary_generated': {
      const { frame_grid_key: key, ...data } = event.data;
      const image = key === undefined ? {} : { frame_grid_b64: await readBase64(key, deps) };
      return { type: event.type, ...shared, data: { ...position(job, event), ...data, ...image } };
    }
    default:
      return withoutImage(job, event, deps.baseUrl);
  }
}

type EventWithImage = Extract<JobEvent, { type: 'watch_triggered' | 'summary_generated' }>;

function withoutImage(job: Job, event: Exclude<JobEvent, EventWithImage>, baseUrl: string) {
  const shared = envelope(job, event);
  switch (event.type) {
    case 'job_started': {
      const links = { job_type: jobTypes[job.policy], events_url: `${baseUrl}/jobs/${job.run_id}/events` };
      return { type: event.type, ...shared, data: { ...position(job, event), ...event.data, ...links } };
    }
    case 'error': {
      const code = toErrorCode(event.data.code);
      return { type: event.type, ...shared, data: { ...position(job, event), ...event.data, code } };
    }
    case 'progress':
      return { type: event.type, ...shared, data: { ...position(job, event), ...event.data } };
    case 'job_stopped':
      return { type: event.type, ...shared, data: { ...position(job, event), ...event.data } };
  }
}

function envelope(job: Job, event: JobEvent) {
  return { timestamp: event.timestamp, source_url: maskUrl(job.stream_url) };
}

function position({ labels }: Job, { job_id, sequence }: JobEvent) {
  return { job_id, sequence, ...(labels.length > 0 && { labels }) };
}

async function readBase64(key: string, { media }: Pictures): Promise<string | null> {
  const image = await media.get(key);
  return image ? Buffer.from(image).toString('base64') : null;
}
