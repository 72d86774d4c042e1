import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { newWatchEventSchema } from '../records/watch-event.ts';
import { watchResponseSchema } from './watches.ts';
import { count, sequence, sourceUrl, timestamp } from './fields.ts';

/** Schemas of the events of a watch: those of the log with links instead of media keys. */

const [opened, reminder, acknowledged, closed, clip, lost, recovered, changed, progress] =
  newWatchEventSchema.options;

const frameUrl = z
  .string()
  .nullable()
  .describe(
    'URL of the evidence; requires the API key, except in what destinations receive: that link is signed and valid for a week. null if no frame was left',
  );

const clipUrl = z
  .string()
  .nullable()
  .describe('URL of the clip, as frame_url; null without one, for the reason');

const position = {
  watch_id: z.uuid(),
  watch_name: z.string(),
  sequence,
  labels: z.array(z.string()),
};

function envelope<Type extends string, Data extends z.ZodRawShape>(type: Type, data: z.ZodObject<Data>) {
  return z.object({
    type: z.literal(type),
    timestamp,
    source_url: sourceUrl,
    data: z.object({ ...position, ...data.shape }),
  });
}

/** Event of a watch in a page of its log or in an event stream. */
export const watchEventResponseSchema = z.discriminatedUnion('type', [
  envelope('alert_opened', opened.shape.data.omit({ frame_key: true }).extend({ frame_url: frameUrl })),
  envelope('alert_reminder', reminder.shape.data.omit({ frame_key: true }).extend({ frame_url: frameUrl })),
  envelope('alert_acknowledged', acknowledged.shape.data),
  envelope('alert_closed', closed.shape.data.omit({ frame_key: true }).extend({ frame_url: frameUrl })),
  envelope(
    'alert_clip',
    clip.shape.data.omit({ clip_key: true, opening: true }).extend({ clip_url: clipUrl }),
  ),
  envelope('stream_lost', lost.shape.data),
  envelope('stream_recovered', recovered.shape.data),
  envelope('watch_changed', changed.shape.data),
  envelope('progress', progress.shape.data),
]);
apiNames.add(watchEventResponseSchema, { id: 'WatchEvent' });

/** Response of `GET /watches/{watch_id}/events` as JSON. */
export const watchEventPageSchema = z.object({
  watch_id: z.uuid(),
  events: z.array(watchEventResponseSchema).describe('Ordered by sequence; progress is kept a day'),
  next_after: count.describe('Value of after for the next page'),
  has_more: z.boolean(),
});
apiNames.add(watchEventPageSchema, { id: 'WatchEventPage' });

/** Response of `GET /watches/events` as JSON. */
export const allWatchEventsPageSchema = z.object({
  events: z.array(watchEventResponseSchema).describe('Events of all watches, ordered by time'),
  next_after: z.string().describe('Value of after for the next page'),
  has_more: z.boolean(),
});
apiNames.add(allWatchEventsPageSchema, { id: 'AllWatchEventsPage' });

/** First event of a stream without position: the state before the new events. */
export const watchStateEventSchema = z.object({
  type: z.literal('state'),
  timestamp,
  data: z.object({ watches: z.array(watchResponseSchema) }),
});

export const streamedWatchEventSchema = z.union([watchStateEventSchema, watchEventResponseSchema]);
apiNames.add(streamedWatchEventSchema, { id: 'StreamedWatchEvent' });
