import { z } from 'zod';
import { eventsBeforeHole } from '../../../core/event/before-hole.ts';
import { requireOwnWatch } from '../../../core/watch/commit-watch.ts';
import { formatCursor } from '../../../core/watch/log-cursor.ts';
import { presentWatchEvent } from '../../../core/watch/present-watch-event.ts';
import { findDeleted, readLogs, withoutGone } from '../../../core/watch/watch-logs.ts';
import { eventsQuerySchema } from '../../../core/requests/jobs.ts';
import { allWatchEventsQuerySchema, watchPathSchema } from '../../../core/requests/watch-queries.ts';
import {
  allWatchEventsPageSchema,
  streamedWatchEventSchema,
  watchEventPageSchema,
} from '../../../core/responses/watch-events.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventsResponse } from '../endpoint-response.ts';
import { readPositions, respondWithWatchEvents } from '../sse/stream-watches.ts';
import { wantsEvents } from '../sse/wants-events.ts';

/** Event logs of watches, as JSON or as event streams. */

const shared = { tag: 'watches', scope: 'read', method: 'get', effect: 'reads' } as const;

const headers = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('Last id of the previous event stream; the stream resumes after it'),
});

const asEvents = {
  description:
    'Without position, first `state` with the watches, then new events; with a position, the events after it that are kept. Event names are the types of the events. A comment every 15 s keeps the connection.',
  example: examples.eventStream,
  schema: streamedWatchEventSchema,
};

const watchEventsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'watch_events',
    path: '/watches/{watch_id}/events',
    title: "Read a watch's events",
    description:
      'Returns the event log in order: pages of JSON, or server-sent events with `Accept: text/event-stream`. `progress` is kept a day, other events for `retention_days`.',
    tool: {
      description:
        'Returns the events of a watch in order, in pages. Send next_after of a page as after for the next one.',
      withoutHeaders: ['Last-Event-ID'],
    },
    request: { parameters: watchPathSchema, query: eventsQuerySchema, headers },
    response: eventsResponse(watchEventPageSchema, {
      description: 'One page of events, or an event stream',
      asEvents,
    }),
    errors: ['WATCH_NOT_FOUND'],
    examples: {
      parameters: { watch_id: examples.watchId },
      response: {
        page: {
          watch_id: examples.watchId,
          events: [examples.openedEvent],
          next_after: 7,
          has_more: false,
        },
      },
    },
  },
  async (
    { parameters: { watch_id: watchId }, query: { after, limit }, caller, context, setHeader },
    deps,
  ) => {
    setHeader('Vary', 'Accept');
    const stored = await requireOwnWatch(watchId, caller, deps);
    if (wantsEvents(context)) {
      const lastId = context.req.header('Last-Event-ID');
      const from = readPositions(lastId, context.req.query('after'), [stored], watchId);
      return respondWithWatchEvents(context, { scope: { caller, watchId }, stored: [stored], from }, deps);
    }
    const read = await deps.watches.events(watchId, after, limit, deps.now());
    const events = eventsBeforeHole(read, after, deps.now());
    // A position beyond the log means now, as for event streams. A hole is read again.
    const last = events.at(-1)?.sequence ?? (read.length > 0 ? after : stored.sequence);
    return {
      watch_id: watchId,
      events: events.map((event) => presentWatchEvent(stored, event, deps.baseUrl)),
      next_after: last,
      has_more: last < stored.sequence,
    };
  },
);

const allWatchEventsEndpoint = defineEndpoint(
  {
    ...shared,
    id: 'all_watch_events',
    path: '/watches/events',
    title: 'Read the events of all watches',
    description:
      'Returns the events of all your watches: pages of JSON, or one event stream with `Accept: text/event-stream`. A position (`next_after`, `id:`) covers all logs.',
    tool: {
      description:
        'Returns the events of all your watches, in pages. Send next_after of a page as after for the next one.',
      withoutHeaders: ['Last-Event-ID'],
    },
    request: { query: allWatchEventsQuerySchema, headers },
    response: eventsResponse(allWatchEventsPageSchema, {
      description: 'One page of events, or an event stream',
      asEvents,
    }),
    errors: [],
    examples: {
      response: {
        page: {
          events: [examples.openedEvent],
          next_after: `${examples.watchId}.7`,
          has_more: false,
        },
      },
    },
  },
  async ({ query: { after, limit }, caller, context, setHeader }, deps) => {
    setHeader('Vary', 'Accept');
    const stored = await deps.watches.list(caller);
    if (wantsEvents(context)) {
      const from = readPositions(context.req.header('Last-Event-ID'), after, stored, undefined);
      return respondWithWatchEvents(context, { scope: { caller }, stored, from }, deps);
    }
    const from = readPositions(undefined, after, stored, undefined) ?? new Map<string, number>();
    const deleted = await findDeleted(stored, { caller }, from, deps);
    const found = await readLogs([...stored, ...deleted], from, limit + 1, deps);
    const page = found.slice(0, limit);
    const reached = new Map(withoutGone(from, [...stored, ...deleted]));
    for (const { event } of page) reached.set(event.watch_id, event.sequence);
    for (const watch of deleted)
      if (reached.get(watch.run_id) === watch.sequence) reached.delete(watch.run_id);
    return {
      events: page.map(({ stored, event }) => presentWatchEvent(stored, event, deps.baseUrl)),
      next_after: formatCursor(reached),
      has_more: found.length > limit,
    };
  },
);

/** The stream of all watches is before that of one, whose path matches it too. */
export const watchEventEndpoints = [allWatchEventsEndpoint, watchEventsEndpoint];
