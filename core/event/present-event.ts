import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import { toJobType } from '../records/job-type.ts';
import { maskUrl } from '../stream/mask-url.ts';
import { toErrorCode } from '../responses/errors.ts';
import { policyEvents } from '../policies/records.ts';
import { placeEvent, type EventPlace } from '../responses/fields.ts';
import type { loggedEventSchema, streamedEventSchema, eventPageSchema } from '../responses/events.ts';

type Links = Pick<CoreDeps, 'baseUrl'>;
type Pictures = Pick<CoreDeps, 'baseUrl'> & { media: Pick<CoreDeps['media'], 'get'> };

/** Event in a page of the log; images are links. */
type LinkedEvent = z.input<typeof loggedEventSchema>;
/** Event in a webhook or event stream; images are base64. */
export type EventEnvelope = z.input<typeof streamedEventSchema>;

/** Returns an event for a page of the log. Images are links. */
export function envelopeWithLinks(job: Job, event: JobEvent, { baseUrl }: Links): LinkedEvent {
  const url = `${baseUrl}/jobs/${job.run_id}/media/${event.sequence}`;
  if (isShared(event)) return presentShared(job, event, baseUrl);
  return withPresenter(event, (data, presenter) => presenter.toLinked(data, toPlace(job, event), url));
}

/** Returns an event for webhooks and event streams. Images are base64, `null` if expired. */
export async function envelopeWithImages(job: Job, event: JobEvent, deps: Pictures): Promise<EventEnvelope> {
  if (isShared(event)) return presentShared(job, event, deps.baseUrl);
  return withPresenter(event, async (data, presenter) => {
    const key = presenter.imageKey(data);
    const image = key === undefined ? null : await readBase64(key, deps);
    return presenter.toStreamed(data, toPlace(job, event), image);
  });
}

/** Returns the media key of the image of an event; undefined for an event without one. */
export function findImageKey(event: JobEvent): string | undefined {
  if (isShared(event)) return undefined;
  return withPresenter(event, (data, presenter) => presenter.imageKey(data));
}

type OwnType = keyof typeof policyEvents;
type Data<T extends OwnType> = z.infer<(typeof policyEvents)[T]['stored']>['data'];
type OwnEvent<T extends OwnType> = { [K in T]: { type: K; data: Data<K> } }[T];
type SharedEvent = Exclude<JobEvent, { type: OwnType }>;

/** Presents the events of one type that only jobs of one policy have. */
type Presenter<T extends OwnType> = {
  imageKey(data: Data<T>): string | undefined;
  toLinked(data: Data<T>, place: EventPlace, url: string): LinkedEvent;
  toStreamed(data: Data<T>, place: EventPlace, image: string | null): EventEnvelope;
};

const presenters: { [T in OwnType]: Presenter<T> } = policyEvents;

function withPresenter<T extends OwnType, Result>(
  { type, data }: OwnEvent<T>,
  use: <U extends OwnType>(data: Data<U>, presenter: Presenter<U>) => Result,
): Result {
  return use(data, presenters[type]);
}

function isShared(event: JobEvent): event is SharedEvent {
  return !(event.type in policyEvents);
}

function presentShared(job: Job, event: SharedEvent, baseUrl: string) {
  const place = toPlace(job, event);
  switch (event.type) {
    case 'job_started': {
      const links = { job_type: toJobType(job.policy), events_url: `${baseUrl}/jobs/${job.run_id}/events` };
      return placeEvent(event.type, place, { ...event.data, ...links });
    }
    case 'error':
      return placeEvent(event.type, place, { ...event.data, code: toErrorCode(event.data.code) });
    case 'progress':
      return placeEvent(event.type, place, event.data);
    case 'job_stopped':
      return placeEvent(event.type, place, event.data);
  }
}

function toPlace({ stream_url: url, labels }: Job, { job_id, sequence, timestamp }: JobEvent): EventPlace {
  const position = { job_id, sequence, ...(labels.length > 0 && { labels }) };
  return { timestamp, source_url: maskUrl(url), position };
}

async function readBase64(key: string, { media }: Pictures): Promise<string | null> {
  const image = await media.get(key);
  return image ? Buffer.from(image).toString('base64') : null;
}

/** Page of a job's event log; images are links. */
export type EventPage = z.input<typeof eventPageSchema>;

/** Maximum page size, in bytes. A Lambda response has at most 6 MB. */
const maxPageBytes = 4_000_000;
/** Reserve for the fields around the events, in bytes. */
const envelopeBytes = 1000;

/** Creates a page of as many events as fit, at least one. */
export function eventPage(
  job: Job,
  after: number,
  events: JobEvent[],
  { baseUrl }: Pick<CoreDeps, 'baseUrl'>,
): EventPage {
  const envelopes = events.map((event) => envelopeWithLinks(job, event, { baseUrl }));
  const fitting = envelopes.slice(0, countWithin(maxPageBytes - envelopeBytes, envelopes));
  const last = events[fitting.length - 1]?.sequence ?? after;
  return {
    job_id: job.run_id,
    status: job.status,
    events: fitting,
    next_after: last,
    // Sequences may have a gap at the end, after a restore.
    has_more: fitting.length > 0 && last < job.sequence,
  };
}

function countWithin(limitBytes: number, envelopes: LinkedEvent[]): number {
  let bytes = 0;
  const first = envelopes.findIndex((envelope) => {
    bytes += Buffer.byteLength(JSON.stringify(envelope)) + 1;
    return bytes > limitBytes;
  });
  return first === -1 ? envelopes.length : Math.max(first, 1);
}
