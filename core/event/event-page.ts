import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import type { JobEvent } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { eventPageSchema } from '../responses/events.ts';
import { envelopeWithLinks, type LinkedEvent } from './present-event.ts';

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
