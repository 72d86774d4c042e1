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
 * Creates the metrics. Their dimension is `service`, the deployment's name; those of one caller have `caller` as well, since each
 * combination is billed as another series.
 */
export function createMetrics(service: string): FunctionMetrics {
  const create = () => new Metrics({ namespace: metricNamespace, serviceName: service });
  const metrics = create();
  const ofCallers = new Map<string, Metrics>();
  return {
    add: (name, value = 1, caller) =>
      void (caller === undefined ? metrics : find(caller)).addMetric(name, metricUnits[name], value),
    flush: () => {
      for (const each of [metrics, ...ofCallers.values()])
        if (each.hasStoredMetrics()) each.publishStoredMetrics();
      ofCallers.clear();
    },
  };

  function find(caller: string): Metrics {
    const found = ofCallers.get(caller) ?? create();
    if (!ofCallers.has(caller)) found.addDimension('caller', caller);
    ofCallers.set(caller, found);
    return found;
  }
}
