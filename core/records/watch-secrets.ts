import { z } from 'zod';
import { destinationAddressSchema } from './watch.ts';

export const watchSecretsSchema = z.object({
  watch_id: z.uuid(),
  destinations: z.array(destinationAddressSchema),
});
export type WatchSecrets = z.infer<typeof watchSecretsSchema>;
