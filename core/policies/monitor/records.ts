import { z } from 'zod';
import { inputModeSchema } from '../../records/capture.ts';
import { evidenceBoxSchema, promptVersionSchema } from '../../records/vision.ts';
import type { Mover } from '../../time.ts';
import { count, envelope, frameUrl, jpegBase64, placeEvent, timestamp } from '../../responses/fields.ts';
import type { EventPlace } from '../../responses/fields.ts';

/** Configuration of a monitor, after defaults and clamping. Durations in seconds. */
const config = z.object({
  condition: z.string(),
  interval_seconds: z.int(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  monitor_duration_seconds: z.int(),
  trigger_cooldown_seconds: z.int(),
  max_triggers: z.int().nullable(),
  enable_prefilter: z.boolean(),
  /** Present if a capture scans all of the stream since the one before. */
  look_back: z.literal(true).optional(),
});
export type MonitorConfig = z.infer<typeof config>;

/** State of a monitor, carried from tick to tick. */
const state = z.object({ last_trigger_at: z.iso.datetime().nullable() });
export type MonitorState = z.infer<typeof state>;

const initialState: MonitorState = { last_trigger_at: null };

const alert = {
  condition: z.string(),
  triggered: z.literal(true),
  explanation: z.string(),
  prefilter_skipped: z.boolean(),
  captured_at: timestamp,
  triggers_fired: count,
  boxes: z
    .array(evidenceBoxSchema)
    .optional()
    .describe('Objects in the evidence that the condition names, best first; only from the object model'),
  prompt_version: promptVersionSchema.optional(),
};

const stored = z.object({ ...alert, frame_key: z.string() });
const linked = envelope('watch_triggered', { ...alert, frame_url: frameUrl });
const streamed = envelope('watch_triggered', {
  ...alert,
  frame_b64: jpegBase64.nullable().describe('Evidence as base64 JPEG; null if it has expired'),
});
type Alert = z.infer<typeof stored>;

export const monitorRecords = {
  name: 'Monitor',
  fields: { policy: z.literal('monitor'), config, state },
  initialState,
  intervalSeconds: ({ interval_seconds: seconds }: MonitorConfig) => seconds,
  durationSeconds: ({ monitor_duration_seconds: seconds }: MonitorConfig) => seconds,
  sightEnd: () => null,
  mapTimes: ({ last_trigger_at: last }: MonitorState, { past }: Mover) => ({ last_trigger_at: past(last) }),
  events: {
    watch_triggered: {
      streamName: 'triggered',
      stored: z.object({ type: z.literal('watch_triggered'), data: stored }),
      linked,
      streamed,
      imageKey: ({ frame_key: key }: Alert) => key,
      toLinked: ({ frame_key: _key, ...data }: Alert, place: EventPlace, url: string) =>
        placeEvent('watch_triggered', place, { ...data, frame_url: url }),
      toStreamed: ({ frame_key: _key, ...data }: Alert, place: EventPlace, image: string | null) =>
        placeEvent('watch_triggered', place, { ...data, frame_b64: image }),
    },
  },
  findings: { type: 'watch_triggered', name: 'triggers' },
  lists: { triggers: z.array(linked).optional().describe('Newest 50 alerts; monitors only') },
  numbers: {},
  toNumbers: () => ({}),
} as const;
