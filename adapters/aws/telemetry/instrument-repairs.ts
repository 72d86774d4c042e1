import type { CoreDeps } from '../../../core/dependencies.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';

type Repairing = Pick<CoreDeps, 'runs' | 'queue' | 'executions'>;

/** Adds metrics to the dependencies of `reconcile`: counts each repair. */
export function instrumentRepairs(
  { runs, queue, executions }: Repairing,
  measurements: MetricsSink,
): Repairing {
  return {
    runs: {
      ...runs,
      commit: async (change) => {
        const result = await runs.commit(change);
        // A change without events only extends a lease.
        if (result === 'committed' && change.events.length > 0) measurements.add('Repairs');
        return result;
      },
    },
    queue: {
      ...queue,
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
