import type { Operation } from './operation.ts';
import { accessOperations } from './operations/access.ts';
import { insightOperations } from './operations/insight.ts';
import { jobOperations } from './operations/jobs.ts';
import { lookOperations } from './operations/looks.ts';
import { startOperations } from './operations/starts.ts';
import { webhookOperations } from './operations/webhooks.ts';

/** The whole API. A test holds it against the routes of the app. */
export const operations: Operation[] = [
  ...lookOperations,
  ...startOperations,
  ...jobOperations,
  ...webhookOperations,
  ...accessOperations,
  ...insightOperations,
];
