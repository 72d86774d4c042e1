import type { MetricsSink } from '../../../core/ports/metrics.ts';
import type { Meter } from '../../../core/ports/meter.ts';

/** Adds metrics for completed and failed deliveries to a meter. */
export function instrumentMeter(meter: Meter, measurements: MetricsSink): Meter {
  return {
    ...meter,
    count: async (counted) => {
      if (counted.kind === 'delivery')
        measurements.add(counted.delivered ? 'DeliveriesDone' : 'DeliveriesFailed');
      await meter.count(counted);
    },
  };
}
