import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { eventPageSchema } from '../responses/events.ts';
import { envelopeWithLinks } from './present-event.ts';
import type { LinkedEvent } from './present-event.ts';

/** A page of a job's log: images are links. */
export type EventPage = z.input<typeof eventPageSchema>;

/** Below the 6 MB that a Lambda function may answer with (design section 9: pages of at most 4 MB). */
const pageBytes = 4_000_000;
/** For what stands around the events. */
const frameBytes = 1000;

/** As many of the events as fit in a page, at least one. */
export function eventPage(
  job: Job,
  after: number,
  events: JobEvent[],
  { baseUrl }: Pick<CoreDeps, 'baseUrl'>,
): EventPage {
  const envelopes = events.map((event) => envelopeWithLinks(job, event, { baseUrl }));
  const fitting = envelopes.slice(0, countWithin(pageBytes - frameBytes, envelopes));
  const last = events[fitting.length - 1]?.sequence ?? after;
  return {
    job_id: job.job_id,
    status: job.status,
    events: fitting,
    next_after: last,
    has_more: last < job.sequence,
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
