import type { MetricsSink } from '../../../core/ports/metrics.ts';
import type { Meter } from '../../../core/ports/meter.ts';

/** Adds metrics for deliveries to a meter. Lateness is a metric only: the meter would write an item per attempt. */
export function instrumentMeter(meter: Meter, measurements: MetricsSink): Meter {
  return {
    ...meter,
    count: async (counted) => {
      if (counted.kind === 'delivery_attempt')
        return measurements.add('DeliveryLateness', counted.lateSeconds);
      if (counted.kind === 'delivery')
        measurements.add(counted.delivered ? 'DeliveriesDone' : 'DeliveriesFailed');
      await meter.count(counted);
    },
  };
}
