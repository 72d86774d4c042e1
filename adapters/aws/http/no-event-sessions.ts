import { WatchpostError } from '../../../core/errors.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';

/**
 * Sessions of an origin without streaming: the HTTP API buffers a response and limits it to 30 s. `open` throws an
 * error with the right URL before a job is created.
 */
export const noEventSessions: EventSessions = {
  perCaller: 0,
  open: async () => {
    throw new WatchpostError(
      'BAD_REQUEST',
      'This URL does not support event streams',
      'Use the base URL of the service, or read GET /jobs/{job_id}/events as JSON.',
    );
  },
};
