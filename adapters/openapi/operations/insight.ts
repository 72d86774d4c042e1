import { logQuerySchema } from '../../../core/requests/log.ts';
import {
  alarmsResponseSchema,
  logsResponseSchema,
  metricsResponseSchema,
} from '../../../core/responses/insight.ts';
import { alarms, log, metrics } from '../examples/insight.ts';
import type { Operation } from '../operation.ts';

const internal = {
  method: 'get',
  tag: 'operations',
  scope: 'internal',
  effect: 'reads',
  fixedHeaders: { 'X-Service-Internal': 'true' },
} as const satisfies Partial<Operation>;

export const insightOperations: Operation[] = [
  {
    ...internal,
    errors: [],
    id: 'metrics',
    path: '/metrics',
    title: 'Read the numbers of the service',
    description:
      'Counted since `started_at`. What the pre-filter saves, in percent: `frames.skipped_prefilter / (frames.captured + frames.skipped_prefilter) * 100`.',
    answer: { kind: 'json', description: 'The numbers', schema: metricsResponseSchema },
    examples: { answer: { metrics } },
  },
  {
    ...internal,
    errors: [],
    id: 'alarms',
    path: '/alarms',
    title: 'Read the state of the alarms',
    description: 'Of CloudWatch on AWS. On one machine there are none.',
    answer: { kind: 'json', description: 'The alarms', schema: alarmsResponseSchema },
    examples: { answer: { alarms } },
  },
  {
    ...internal,
    errors: [],
    id: 'logs',
    path: '/logs',
    title: 'Read the log of the service',
    description:
      'Of the last 500 entries the newest, oldest first. Entries about a job begin with `[JOB:…]`.',
    query: logQuerySchema,
    answer: { kind: 'json', description: 'Log entries', schema: logsResponseSchema },
    examples: { answer: { log } },
  },
];
