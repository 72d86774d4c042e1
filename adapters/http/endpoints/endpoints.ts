import type { Endpoint } from '../endpoint.ts';
import { callerEndpoints } from './callers.ts';
import { checkEndpoints } from './checks.ts';
import { jobEndpoints } from './jobs.ts';
import { keyEndpoints } from './keys.ts';
import { observabilityEndpoints } from './observability.ts';
import { serviceEndpoints } from './service.ts';
import { startEndpoints } from './starts.ts';
import { streamEndpoints } from './streams.ts';
import { alertEndpoints } from './alerts.ts';
import { watchEventEndpoints } from './watch-events.ts';
import { watchEndpoints } from './watches.ts';
import { webhookEndpoints } from './webhooks.ts';

/** Endpoints of the API below the base URL. */
export const endpoints: readonly Endpoint[] = [
  ...checkEndpoints,
  ...streamEndpoints,
  ...startEndpoints,
  ...jobEndpoints,
  ...watchEventEndpoints,
  ...watchEndpoints,
  ...alertEndpoints,
  ...webhookEndpoints,
  ...keyEndpoints,
  ...callerEndpoints,
  ...serviceEndpoints,
  ...observabilityEndpoints,
];
