import { z } from 'zod';

/** Types of events in the log of a watch. */
export const watchEventTypeSchema = z.enum([
  'alert_opened',
  'alert_reminder',
  'alert_acknowledged',
  'alert_closed',
  'alert_clip',
  'stream_lost',
  'stream_recovered',
  'watch_changed',
  'progress',
]);

/** Types that destinations receive: all except `progress`, which event streams and pages of the log have only. */
export const deliveredEventTypes = watchEventTypeSchema.exclude(['progress']);
export type WatchEventType = z.infer<typeof watchEventTypeSchema>;
