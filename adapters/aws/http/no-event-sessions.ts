import { WatchpostError } from '../../../core/errors.ts';
import type { EventSessions } from '../../../core/ports/event-sessions.ts';

/**
 * Where nothing can be streamed: the HTTP API gathers an answer and gives it 30 s. A request for events that gets there all the same is told where to
 * go, before a job is made for it.
 */
export const noEventSessions: EventSessions = {
  perCaller: 0,
  open: async () => {
    throw new WatchpostError(
      'BAD_REQUEST',
      'This address sends no event streams',
      'Ask for them at the base URL of the service, which leads to where they are sent; or read GET /jobs/{job_id}/events as JSON.',
    );
  },
};
