import type { Endpoint } from '../endpoint.ts';
import { adviceEndpoints } from './advice.ts';
import { callerEndpoints, erasureEndpoints, keyEndpoints } from './keys.ts';
import { cameraEndpoints } from './cameras.ts';
import { checkEndpoints, streamEndpoints } from './checks.ts';
import { jobEndpoints } from './jobs.ts';
import { observabilityEndpoints, serviceEndpoints } from './observability.ts';
import { startEndpoints } from './starts.ts';
import { momentEndpoints } from './moments.ts';
import { alertEndpoints } from './alerts.ts';
import { usageEndpoints } from './usage.ts';
import { watchEventEndpoints } from './watch-events.ts';
import { watchEndpoints } from './watches.ts';
import { testWatchEndpoints } from './test-watch.ts';
import { momentQuestionEndpoints, momentSearchEndpoints } from './moment-search.ts';
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
  ...testWatchEndpoints,
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
