import { z } from 'zod';
import { destinationAddressSchema, destinationSchema } from './watch.ts';
import { watchEventSchema } from './watch-event.ts';

/** End of an opening that a former destination was notified of, with the settings and the address that it was notified at. */
export const formerAddressSchema = z.object({
  former_id: z.string(),
  destination: destinationSchema,
  address: destinationAddressSchema,
  ending: watchEventSchema,
});
export type FormerAddress = z.infer<typeof formerAddressSchema>;

/** Addresses of all destinations of a watch. */
export const watchSecretsSchema = z.object({
  watch_id: z.uuid(),
  destinations: z.array(destinationAddressSchema),
  /** One for each of the watch's `former_destinations`; absent without one. */
  former: z.array(formerAddressSchema).optional(),
});
export type WatchSecrets = z.infer<typeof watchSecretsSchema>;
