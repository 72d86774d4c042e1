import { acceptJob } from '../../core/job/accept-job.ts';
import { digestRequestSchema, planDigest } from '../../core/policies/digest/create.ts';
import { monitorRequestSchema, planMonitor } from '../../core/policies/monitor/create.ts';
import type { z } from 'zod';

type Rest = Parameters<typeof acceptJob> extends [unknown, unknown, ...infer Others] ? Others : never;

/** Accepts a monitor. */
export const createMonitor = (request: z.output<typeof monitorRequestSchema>, ...rest: Rest) =>
  acceptJob(planMonitor, request, ...rest);

/** Accepts a digest. */
export const createDigest = (request: z.output<typeof digestRequestSchema>, ...rest: Rest) =>
  acceptJob(planDigest, request, ...rest);
