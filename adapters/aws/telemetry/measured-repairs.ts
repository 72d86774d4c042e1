import type { Collaborators } from '../../../core/collaborators.ts';
import type { Measurements } from '../../../core/ports/measurements.ts';

type Repairing = Pick<Collaborators, 'jobs' | 'queue' | 'executions'>;

/** The same collaborators; each thing that a repair had to make up for is counted. */
export function measuredRepairs(
  { jobs, queue, executions }: Repairing,
  measurements: Measurements,
): Repairing {
  return {
    jobs: {
      ...jobs,
      commit: async (change) => {
        const result = await jobs.commit(change);
        // One without events only renews a lease.
        if (result === 'committed' && change.events.length > 0) measurements.add('Repairs');
        return result;
      },
    },
    queue: {
      send: async (message) => {
        await queue.send(message);
        measurements.add('Repairs');
      },
    },
    executions: {
      ...executions,
      start: async (input) => {
        const result = await executions.start(input);
        if (result === 'started') measurements.add('Repairs');
        return result;
      },
    },
  };
}
