import { z } from 'zod';
import type { CoreDeps } from '../../../core/dependencies.ts';
import { eventsBeforeHole } from '../../../core/event/tail-events.ts';
import { requireOwnWatch } from '../../../core/watch/commit-watch.ts';
import { presentWatchEvent } from '../../../core/watch/present-watch.ts';
import { isWatchEvent } from '../../../core/records/run.ts';
import {
  allWatchEventsQuerySchema,
  watchEventsQuerySchema,
  watchPathSchema,
} from '../../../core/requests/watch-queries.ts';
import {
  allWatchEventsPageSchema,
  streamedWatchEventSchema,
  watchEventPageSchema,
} from '../../../core/responses/watch-events.ts';
import * as examples from '../../openapi/examples/watches.ts';
import { defineEndpoint } from '../endpoint.ts';
import { eventsResponse } from '../endpoint-response.ts';
import { readLastEventId, wantsEvents } from '../sse/messages.ts';
import { isOfTypes, readSequence, respondWithWatchEvents } from '../sse/stream-watches.ts';

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
    request: { parameters: watchPathSchema, query: watchEventsQuerySchema, headers },
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
    { parameters: { watch_id: watchId }, query: { after, limit, types }, caller, context, setHeader },
    deps,
  ) => {
    setHeader('Vary', 'Accept');
    const stored = await requireOwnWatch(watchId, caller, deps);
    if (wantsEvents(context)) {
      const lastId = readLastEventId(context) ?? context.req.query('after');
      const position = readSequence(lastId, stored);
      const start =
        position === undefined ? { from: String(stored.sequence), state: [stored] } : { from: position };
      return respondWithWatchEvents(context, { scope: { caller, watchId }, types, ...start }, deps);
    }
    const read = await deps.runs.events(watchId, after, limit, deps.now());
    const events = eventsBeforeHole(read.filter(isWatchEvent), after, deps.now());
    // A position beyond the log means now, as for event streams. A hole is read again.
    const last = events.at(-1)?.sequence ?? (read.length > 0 ? after : stored.sequence);
    return {
      watch_id: watchId,
      events: events
        .filter((event) => isOfTypes(event, types))
        .map((event) => presentWatchEvent(stored, event, deps.baseUrl)),
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
          next_after: '7',
          has_more: false,
        },
      },
    },
  },
  async ({ query: { after, limit, types }, caller, context, setHeader }, deps) => {
    setHeader('Vary', 'Accept');
    const { watches } = deps;
    const text = (wantsEvents(context) ? readLastEventId(context) : undefined) ?? after;
    const from = text === undefined ? undefined : await watches.feedPosition(caller, text);
    if (wantsEvents(context)) {
      const start = from === undefined ? await readStart(caller, deps) : { from };
      return respondWithWatchEvents(context, { scope: { caller }, types, ...start }, deps);
    }
    const { entries, position, hasMore } = await watches.feed(caller, from, limit, deps.now());
    return {
      events: entries
        .filter(({ event }) => isOfTypes(event, types))
        .map(({ watch, event }) => presentWatchEvent(watch, event, deps.baseUrl)),
      next_after: position,
      has_more: hasMore,
    };
  },
);

/**
 * Returns the start of a stream without position. The watches follow the position, so that no event is missing in both.
 */
async function readStart(caller: string, { watches }: Pick<CoreDeps, 'watches'>) {
  const from = (await watches.feedPosition(caller)) ?? '';
  return { from, state: await watches.list(caller) };
}

/** The stream of all watches is before that of one, whose path matches it too. */
export const watchEventEndpoints = [allWatchEventsEndpoint, watchEventsEndpoint];
