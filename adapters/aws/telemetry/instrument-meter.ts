import type { MetricsSink } from '../../../core/ports/observability.ts';
import type { Meter } from '../../../core/ports/usage.ts';

/**
 * Adds metrics for deliveries, searches and dropped moments to a meter. Lateness is a metric only: the meter would
 * write an item per attempt.
 */
export function instrumentMeter(meter: Meter, measurements: MetricsSink): Meter {
  return {
    ...meter,
    count: async (counted) => {
      if (counted.kind === 'delivery_attempt')
        return measurements.add('DeliveryLateness', counted.lateSeconds);
      if (counted.kind === 'delivery')
        measurements.add(counted.delivered ? 'DeliveriesDone' : 'DeliveriesFailed');
      if (counted.kind === 'moments_dropped') measurements.add('MomentsDropped', counted.count);
      if (counted.kind === 'search') {
        if (counted.isNew) measurements.add('Searches');
        measurements.add('SearchModelCalls', counted.calls);
        measurements.add('SearchCostUsd', counted.microUsd / 1_000_000);
      }
      await meter.count(counted);
    },
  };
}
