import type { Collaborators } from '../collaborators.ts';
import type { EventType, JobEvent } from '../event.ts';
import type { Job } from '../job.ts';
import { maskUrl } from '../mask-url.ts';

type Links = Pick<Collaborators, 'baseUrl'>;
type Pictures = Pick<Collaborators, 'baseUrl'> & { media: Pick<Collaborators['media'], 'get'> };

/** What callers receive, by webhook, SSE or polling (interface section 6.1). */
export type EventEnvelope = {
  type: EventType;
  timestamp: string;
  source_url: string;
  data: Record<string, unknown>;
};

/** Stored data names pictures by their keys in the media store; callers get `frame_url` or `frame_b64`, `frame_grid_url` or `frame_grid_b64`. */
const pictures = { frame_key: 'frame', frame_grid_key: 'frame_grid' } as const;

/** For a page of the log: pictures are links. */
export function linkedEnvelope(job: Job, event: JobEvent, { baseUrl }: Links): EventEnvelope {
  const { data, keys } = split(job, event, baseUrl);
  const link = `${baseUrl}/jobs/${job.job_id}/media/${event.sequence}`;
  const links = keys.map(({ name }): [string, string] => [`${name}_url`, link]);
  return envelope(job, event, { ...data, ...Object.fromEntries(links) });
}

/** For what is pushed, by webhook or SSE: pictures are in it, as base64; null where they were swept already. */
export async function pushedEnvelope(job: Job, event: JobEvent, c: Pictures): Promise<EventEnvelope> {
  const { data, keys } = split(job, event, c.baseUrl);
  const inlined = await Promise.all(
    keys.map(async ({ name, key }): Promise<[string, string | null]> => {
      const picture = await c.media.get(key);
      return [`${name}_b64`, picture ? toBase64(picture) : null];
    }),
  );
  return envelope(job, event, { ...data, ...Object.fromEntries(inlined) });
}

function envelope(job: Job, event: JobEvent, data: Record<string, unknown>): EventEnvelope {
  return {
    type: event.type,
    timestamp: event.timestamp,
    source_url: maskUrl(job.stream_url),
    data: { job_id: job.job_id, sequence: event.sequence, ...data },
  };
}

/** The event's data without its pictures, and the pictures' keys. A picture that was not asked for has no key. */
function split(job: Job, event: JobEvent, baseUrl: string) {
  const all: Record<string, unknown> = dataOf(job, event, baseUrl);
  const data = Object.fromEntries(Object.entries(all).filter(([field]) => !(field in pictures)));
  const keys = Object.entries(pictures).flatMap(([field, name]) => {
    const key = all[field];
    return typeof key === 'string' ? [{ name, key }] : [];
  });
  return { data, keys };
}

function dataOf(job: Job, event: JobEvent, baseUrl: string): Record<string, unknown> {
  if (event.type !== 'job_started') return event.data;
  return { ...event.data, events_url: `${baseUrl}/jobs/${job.job_id}/events` };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
