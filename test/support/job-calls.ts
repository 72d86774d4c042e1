import { createMonitor } from './create-jobs.ts';
import { getJob } from '../../core/job/read-jobs.ts';
import { monitorRequest, type World } from './world.ts';

type Fields = Record<string, unknown>;

/** Returns calls on monitors of the caller "harbour" in the current world of a test. */
export function jobCalls(world: () => World) {
  const monitor = (fields: Fields = {}) => createMonitor(monitorRequest(fields), 'harbour', world().c);
  return {
    monitor,
    begun: async (fields: Fields = {}) => {
      const { run_id: jobId } = await monitor(fields);
      return { jobId, step: await world().begin({ run_id: jobId, generation: 0 }) };
    },
    stored: async (jobId: string) => (await getJob(jobId, 'harbour', world().c)).job,
    readTypes: async (jobId: string) =>
      (await world().c.jobs.events(jobId, 0, 100, new Date(0))).map(({ type }) => type),
  };
}
