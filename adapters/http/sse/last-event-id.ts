import type { Context } from 'hono';

/** Query parameters of readers that may set headers, but not this one: `lastEventId` of event-source-polyfill and others. */
const parameters = ['lastEventId', 'last_event_id', 'last-event-id', 'Last-Event-ID'];

/** Returns the position at which a reader resumes: the header, else a query parameter; undefined without either. */
export function readLastEventId({ req }: Context): string | undefined {
  const asked = parameters.map((name) => req.queries(name)?.at(-1)).find((value) => value);
  return req.header('Last-Event-ID') ?? asked;
}
