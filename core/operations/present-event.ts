import type { Collaborators } from '../collaborators.ts';
import type { EventType, JobEvent } from '../event.ts';
import type { Job } from '../job.ts';

type Links = Pick<Collaborators, 'baseUrl'>;
type Pictures = Pick<Collaborators, 'media' | 'baseUrl'>;

/** What callers receive, by webhook, SSE or polling (interface section 6.1). */
export type EventEnvelope = {
  type: EventType;
  timestamp: string;
  source_url: string;
  data: Record<string, unknown>;
};

/** For a page of the log: the picture is a link. */
export function linkedEnvelope(job: Job, event: JobEvent, { baseUrl }: Links): EventEnvelope {
  const { frame_key: frameKey, ...data } = dataOf(job, event, baseUrl);
  if (frameKey === undefined) return envelope(job, event, data);
  return envelope(job, event, {
    ...data,
    frame_url: `${baseUrl}/jobs/${job.job_id}/media/${event.sequence}`,
  });
}

/** For a webhook: the picture is in it, as base64; null where it was swept already. */
export async function webhookEnvelope(job: Job, event: JobEvent, c: Pictures): Promise<EventEnvelope> {
  const { frame_key: frameKey, ...data } = dataOf(job, event, c.baseUrl);
  if (typeof frameKey !== 'string') return envelope(job, event, data);
  const frame = await c.media.get(frameKey);
  return envelope(job, event, { ...data, frame_b64: frame ? toBase64(frame) : null });
}

function envelope(job: Job, event: JobEvent, data: Record<string, unknown>): EventEnvelope {
  return {
    type: event.type,
    timestamp: event.timestamp,
    source_url: job.stream_url,
    data: { job_id: job.job_id, sequence: event.sequence, ...data },
  };
}

function dataOf(job: Job, event: JobEvent, baseUrl: string): Record<string, unknown> {
  if (event.type !== 'job_started') return event.data;
  return { ...event.data, events_url: `${baseUrl}/jobs/${job.job_id}/events` };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
