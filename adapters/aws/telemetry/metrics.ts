import { Metrics } from '@aws-lambda-powertools/metrics';
import { measurementUnits } from '../../../core/ports/measurements.ts';
import type { Measurements } from '../../../core/ports/measurements.ts';

export type FunctionMetrics = Measurements & {
  /** Writes what was measured as one line of the log (embedded metric format): no request, and nothing to wait for. */
  flush(): void;
};

export const metricNamespace = 'Watchpost';

/** The one dimension is `service`, the deployment's name: each further one would be billed as another series. */
export function createMetrics(service: string): FunctionMetrics {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName: service });
  return {
    add: (name, value = 1) => void metrics.addMetric(name, measurementUnits[name], value),
    flush: () => {
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}
