import type { Endpoint } from '../endpoint.ts';
import { adviceEndpoints } from './advice.ts';
import { callerEndpoints } from './callers.ts';
import { cameraEndpoints } from './cameras.ts';
import { checkEndpoints } from './checks.ts';
import { erasureEndpoints } from './erasure.ts';
import { jobEndpoints } from './jobs.ts';
import { keyEndpoints } from './keys.ts';
import { observabilityEndpoints } from './observability.ts';
import { serviceEndpoints } from './service.ts';
import { startEndpoints } from './starts.ts';
import { streamEndpoints } from './streams.ts';
import { alertEndpoints } from './alerts.ts';
import { usageEndpoints } from './usage.ts';
import { watchEventEndpoints } from './watch-events.ts';
import { watchEndpoints } from './watches.ts';
import { testWatchEndpoints } from './test-watch.ts';
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
  ...webhookEndpoints,
  ...keyEndpoints,
  ...callerEndpoints,
  ...erasureEndpoints,
  ...usageEndpoints,
  ...serviceEndpoints,
  ...observabilityEndpoints,
];
