import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IMetric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { measurementUnits } from '../../core/ports/measurements.ts';
import type { MeasurementName } from '../../core/ports/measurements.ts';
import type { ServiceFunction } from '../service-function.ts';

type Parts = {
  /** The dimension by which the functions count: the deployment's name. */
  service: string;
  functions: Record<'api' | 'stream' | 'capture' | 'analyze' | 'deliver' | 'reconcile', ServiceFunction>;
  stateMachine: StateMachine;
  httpApi: HttpApi;
};

/** As in `adapters/aws/telemetry/metrics.ts`, which brings Powertools with it; a test compares the two. */
export const metricNamespace = 'Watchpost';

/** The numbers that dashboard and alarms are made of. Counts are sums over the period. */
export class ServiceMetrics {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the functions count themselves. */
  own(name: MeasurementName, options: MetricOptions = {}): Metric {
    const statistic = measurementUnits[name] === 'Milliseconds' ? 'p90' : 'Sum';
    const dimensionsMap = { service: this.#parts.service };
    return new Metric({ namespace: metricNamespace, metricName: name, dimensionsMap, statistic, ...options });
  }

  /** None below 20 calls: one error among three is no tendency. */
  modelErrorPercent(options: MetricOptions = {}): IMetric {
    return new MathExpression({
      label: 'Failed calls of the model, %',
      expression: 'IF(calls >= 20, 100 * errors / calls, 0)',
      usingMetrics: { calls: this.own('ModelCalls'), errors: this.own('ModelErrors') },
      ...options,
    });
  }

  functionErrors(options: MetricOptions = {}): IMetric {
    return this.#ofAllFunctions('errors', ({ lambda }) => lambda.metricErrors(), options);
  }

  functionThrottles(options: MetricOptions = {}): IMetric {
    return this.#ofAllFunctions('throttles', ({ lambda }) => lambda.metricThrottles(), options);
  }

  executionsFailed(options: MetricOptions = {}): IMetric {
    const { stateMachine } = this.#parts;
    return new MathExpression({
      label: 'Executions that failed',
      expression: sumOf(['failed', 'timedOut']),
      usingMetrics: { failed: stateMachine.metricFailed(), timedOut: stateMachine.metricTimedOut() },
      ...options,
    });
  }

  executionsStarted(options: MetricOptions = {}): IMetric {
    return this.#parts.stateMachine.metricStarted(options);
  }

  reconcileRuns(options: MetricOptions = {}): IMetric {
    return this.#parts.functions.reconcile.lambda.metricInvocations(options);
  }

  apiFaults(options: MetricOptions = {}): IMetric {
    return this.#parts.httpApi.metricServerError({ statistic: 'Sum', ...options });
  }

  apiRequests(options: MetricOptions = {}): IMetric {
    return this.#parts.httpApi.metricCount({ statistic: 'Sum', ...options });
  }

  /** One line a function. */
  durations(options: MetricOptions = {}): IMetric[] {
    return Object.entries(this.#parts.functions).map(([name, { lambda }]) =>
      lambda.metricDuration({ statistic: 'p90', label: name, ...options }),
    );
  }

  concurrency(options: MetricOptions = {}): IMetric[] {
    return Object.entries(this.#parts.functions).map(([name, { lambda }]) =>
      lambda.metric('ConcurrentExecutions', { statistic: 'Maximum', label: name, ...options }),
    );
  }

  #ofAllFunctions(label: string, metricOf: (each: ServiceFunction) => Metric, options: MetricOptions) {
    const usingMetrics = Object.fromEntries(
      Object.entries(this.#parts.functions).map(([name, each]) => [`${label}_${name}`, metricOf(each)]),
    );
    const expression = sumOf(Object.keys(usingMetrics));
    return new MathExpression({ label: `Functions: ${label}`, expression, usingMetrics, ...options });
  }
}

/** A function that is not called has no metrics, and `a + b` has no value where one of them has none: an idle function would hide all others. */
function sumOf(ids: string[]): string {
  return `SUM([${ids.map((id) => `FILL(${id}, 0)`).join(', ')}])`;
}
