import { acceptJob } from '../../core/job/accept-job.ts';
import { planDigest } from '../../core/policies/digest/create.ts';
import { planMonitor } from '../../core/policies/monitor/create.ts';

type Rest = Parameters<typeof acceptJob> extends [unknown, unknown, ...infer Others] ? Others : never;

/** Accepts a monitor. */
export const createMonitor = (request: Parameters<typeof planMonitor>[0], ...rest: Rest) =>
  acceptJob(planMonitor, request, ...rest);

/** Accepts a digest. */
export const createDigest = (request: Parameters<typeof planDigest>[0], ...rest: Rest) =>
  acceptJob(planDigest, request, ...rest);
