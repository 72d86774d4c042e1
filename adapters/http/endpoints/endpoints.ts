import type { Endpoint } from '../endpoint.ts';
import { adviceEndpoints, checkEndpoints, streamEndpoints } from './checks.ts';
import { callerEndpoints, erasureEndpoints, keyEndpoints } from './keys.ts';
import { cameraEndpoints } from './cameras.ts';
import { jobEndpoints } from './jobs.ts';
import { observabilityEndpoints, serviceEndpoints, usageEndpoints } from './observability.ts';
import { startEndpoints } from './starts.ts';
import { momentEndpoints, momentQuestionEndpoints, momentSearchEndpoints } from './moments.ts';
import { alertEndpoints } from './alerts.ts';
import { watchEventEndpoints } from './watch-events.ts';
import { watchEndpoints } from './watches.ts';
import { watchDeliveryEndpoints } from './watch-deliveries.ts';
import { webhookEndpoints } from './webhooks.ts';

/** Endpoints of the API below the base URL. */
export const endpoints: readonly Endpoint[] = [
  ...checkEndpoints,
  ...adviceEndpoints,
  ...streamEndpoints,
  ...cameraEndpoints,
  ...startEndpoints,
  ...jobEndpoints,
  ...watchEventEndpoints,
  ...watchEndpoints,
  ...watchDeliveryEndpoints,
  ...alertEndpoints,
  ...momentSearchEndpoints,
  ...momentEndpoints,
  ...momentQuestionEndpoints,
  ...webhookEndpoints,
  ...keyEndpoints,
  ...callerEndpoints,
  ...erasureEndpoints,
  ...usageEndpoints,
  ...serviceEndpoints,
  ...observabilityEndpoints,
];
