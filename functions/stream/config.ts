import type { z } from 'zod';
import { functionSettings, httpSettings } from '../../adapters/aws/function-settings.ts';

/** Environment variables of `stream`: those of `api`, and the settings of event streams. */
export const streamConfigSchema = functionSettings.pick({
  ...httpSettings,
  EVENT_STREAMS_PER_CALLER: true,
  EVENT_STREAMS: true,
  EVENT_POOL: true,
  EVENT_STREAM_SECONDS: true,
  HEARTBEAT_SECONDS: true,
});
export type StreamConfig = z.output<typeof streamConfigSchema>;
export type StreamEnvironment = z.input<typeof streamConfigSchema>;
