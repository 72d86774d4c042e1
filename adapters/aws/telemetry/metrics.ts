import { Metrics } from '@aws-lambda-powertools/metrics';
import { metricUnits } from '../../../core/ports/metrics.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';

/** Metrics of one function. */
export type FunctionMetrics = MetricsSink & {
  /** Writes the collected metrics as one log line (embedded metric format). Sends no request. */
  flush(): void;
};

/** CloudWatch namespace of all metrics. */
export const metricNamespace = 'Watchpost';

/**
 * Creates the metrics. The only dimension is `service`, the deployment's name: each additional one is billed as
 * another series.
 */
export function createMetrics(service: string): FunctionMetrics {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName: service });
  return {
    add: (name, value = 1) => void metrics.addMetric(name, metricUnits[name], value),
    flush: () => {
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    },
  };
}
