import { MathExpression, Metric, type IMetric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { StateTransitionMetric, type StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { checkOutputTokens } from '../../../adapters/vision/prompt.ts';
import { metricUnits, type MetricName } from '../../../core/ports/observability.ts';
import type { ServiceFunction } from '../../function/service-function.ts';
import type { StreamOrigin } from '../../api/stream-origin.ts';

type Parts = {
  /** Value of the metric dimension `service`: the stack name. */
  service: string;
  functions: Record<
    'api' | 'stream' | 'events' | 'capture' | 'analyze' | 'deliver' | 'reconcile',
    ServiceFunction
  >;
  /** Standard state machines, which run executions of jobs. */
  stateMachines: StateMachine[];
  burst: StateMachine;
  table: Table;
  httpApi: HttpApi;
  streamOrigins: StreamOrigin[];
};

/** Copy of the namespace in `adapters/aws/telemetry/telemetry.ts`, which imports Powertools; a test compares both. */
export const metricNamespace = 'Watchpost';

/** Metrics of dashboard and alarms. Counts are sums over the period. */
export class ServiceMetrics {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns a custom metric of the functions: p90 for latencies, sum for counts. */
  own(name: MetricName, options: MetricOptions = {}): Metric {
    const statistic = metricUnits[name] === 'Milliseconds' ? 'p90' : 'Sum';
    const dimensionsMap = { service: this.#parts.service };
    return new Metric({ namespace: metricNamespace, metricName: name, dimensionsMap, statistic, ...options });
  }

  /** Returns the share of failed model calls, in percent; 0 below 20 calls, since a few errors show no trend. */
  modelErrorPercent(options: MetricOptions = {}): IMetric {
    return new MathExpression({
      label: 'Failed model calls, %',
      expression: 'IF(calls >= 20, 100 * errors / calls, 0)',
      usingMetrics: { calls: this.own('ModelCalls'), errors: this.own('ModelErrors') },
      ...options,
    });
  }

  /** Returns a count of the service in percent of others; 0 below `floor`. */
  ownPercent(
    name: MetricName,
    names: readonly MetricName[],
    floor: number,
    options: MetricOptions = {},
  ): IMetric {
    const whole = names.map((each) => this.own(each));
    return percent(name, { floor, part: [this.own(name)], whole }, options);
  }

  /** Returns a count of the service in percent of the ticks; 0 below `floor`. */
  tickPercent(name: MetricName, floor: number, options: MetricOptions = {}): IMetric {
    return percent(name, { floor, part: [this.own(name)], whole: [this.#tickRuns()] }, options);
  }

  /**
   * Returns failed or throttled invocations in percent of those of `capture` and `analyze`, which run each tick: an
   * alarm has at most ten metrics
   * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html). 0 below `floor`.
   */
  functionPercent(kind: 'Errors' | 'Throttles', floor: number, options: MetricOptions = {}): IMetric {
    const { capture, analyze } = this.#parts.functions;
    const part = Object.values(this.#parts.functions).map(({ lambda }) =>
      kind === 'Errors' ? lambda.metricErrors() : lambda.metricThrottles(),
    );
    const whole = [capture, analyze].map(({ lambda }) => lambda.metricInvocations());
    return percent(`Functions: ${kind}`, { floor, part, whole }, options);
  }

  executionsFailedPercent(floor: number, options: MetricOptions = {}): IMetric {
    const { stateMachines } = this.#parts;
    const part = stateMachines.flatMap((each) => [each.metricFailed(), each.metricTimedOut()]);
    const whole = stateMachines.map((each) => each.metricStarted());
    return percent('Failed executions', { floor, part, whole }, options);
  }

  burstsFailedPercent(floor: number, options: MetricOptions = {}): IMetric {
    const { burst } = this.#parts;
    const part = [burst.metricFailed(), burst.metricTimedOut()];
    return percent('Failed bursts', { floor, part, whole: [burst.metricStarted()] }, options);
  }

  tableThrottlePercent(floor: number, options: MetricOptions = {}): IMetric {
    const { table } = this.#parts;
    const part = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
      table.metric(name, { statistic: 'Sum' }),
    );
    return percent('Throttled requests', { floor, part, whole: [this.#tickRuns()] }, options);
  }

  apiFaultPercent(floor: number, options: MetricOptions = {}): IMetric {
    return percent('5xx', { floor, part: [this.apiFaults()], whole: [this.apiRequests()] }, options);
  }

  streamFaultPercent(floor: number, options: MetricOptions = {}): IMetric {
    const { streamOrigins } = this.#parts;
    const part = streamOrigins.map((origin) => origin.faults({}));
    const whole = streamOrigins.map((origin) => origin.requests({}));
    return percent('5xx', { floor, part, whole }, options);
  }

  functionErrors(options: MetricOptions = {}): IMetric {
    return this.#ofAllFunctions('errors', ({ lambda }) => lambda.metricErrors(), options);
  }

  functionThrottles(options: MetricOptions = {}): IMetric {
    return this.#ofAllFunctions('throttles', ({ lambda }) => lambda.metricThrottles(), options);
  }

  droppedInvocations(options: MetricOptions = {}): IMetric {
    return this.#ofAllFunctions(
      'dropped',
      ({ lambda }) => lambda.metric('RecursiveInvocationsDropped', { statistic: 'Sum' }),
      options,
    );
  }

  /**
   * Returns the longest delay of an attempt behind its planned start, in seconds. An hour if messages wait (`visible`)
   * and `deliver` does not run, because no attempt reports a delay then.
   */
  deliveryLatenessSeconds(visible: IMetric, options: MetricOptions): IMetric {
    return new MathExpression({
      label: 'Lateness of deliveries, s',
      expression: 'IF(FILL(waiting, 0) > 0 AND FILL(runs, 0) == 0, 3600, FILL(late, 0))',
      usingMetrics: {
        waiting: visible,
        runs: this.#parts.functions.deliver.lambda.metricInvocations(),
        late: this.own('DeliveryLateness', { statistic: 'Maximum' }),
      },
      ...options,
    });
  }

  executionsFailed(options: MetricOptions = {}): IMetric {
    const usingMetrics = Object.fromEntries(
      this.#parts.stateMachines.flatMap((each, index) => [
        [`failed${index}`, each.metricFailed()],
        [`timedOut${index}`, each.metricTimedOut()],
      ]),
    );
    const expression = sumExpression(Object.keys(usingMetrics));
    return new MathExpression({ label: 'Failed executions', expression, usingMetrics, ...options });
  }

  executionsStarted(options: MetricOptions = {}): IMetric {
    const usingMetrics = Object.fromEntries(
      this.#parts.stateMachines.map((each, index) => [`started${index}`, each.metricStarted()]),
    );
    const expression = sumExpression(Object.keys(usingMetrics));
    return new MathExpression({ label: 'Started executions', expression, usingMetrics, ...options });
  }

  /** Returns the throttled state transitions of all Standard workflows of the account: the quota is theirs together. */
  throttledTransitions(options: MetricOptions = {}): IMetric {
    return StateTransitionMetric.metricThrottledEvents({ statistic: 'Sum', ...options });
  }

  /** Returns the concurrency of the account that is in use or reserved: what counts against its quota. */
  accountConcurrency(options: MetricOptions = {}): IMetric {
    const metricName = 'ClaimedAccountConcurrency';
    return new Metric({ namespace: 'AWS/Lambda', metricName, statistic: 'Maximum', ...options });
  }

  /**
   * Returns the tokens per minute as Bedrock counts them: those of the input, and the reserved output of each check.
   */
  tokensPerMinute(options: MetricOptions = {}): IMetric {
    return new MathExpression({
      label: 'Tokens per minute',
      expression: `SUM([FILL(input, 0), ${checkOutputTokens} * FILL(calls, 0)]) / (PERIOD(input) / 60)`,
      usingMetrics: { input: this.own('InputTokens'), calls: this.own('ModelCalls') },
      ...options,
    });
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

  /** Returns the p90 duration of each function. */
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

  /** Returns the invocations of `analyze`, which each tick has. The count `Ticks` has those of jobs alone. */
  #tickRuns(): IMetric {
    return this.#parts.functions.analyze.lambda.metricInvocations();
  }

  #ofAllFunctions(label: string, toMetric: (each: ServiceFunction) => Metric, options: MetricOptions) {
    const usingMetrics = Object.fromEntries(
      Object.entries(this.#parts.functions).map(([name, each]) => [`${label}_${name}`, toMetric(each)]),
    );
    const expression = sumExpression(Object.keys(usingMetrics));
    return new MathExpression({ label: `Functions: ${label}`, expression, usingMetrics, ...options });
  }
}

function toIds(prefix: string, metrics: readonly IMetric[]): Record<string, IMetric> {
  return Object.fromEntries(metrics.map((metric, index) => [`${prefix}${index}`, metric]));
}

type Share = { part: readonly IMetric[]; whole: readonly IMetric[]; floor: number };

/**
 * Returns a part in percent of the whole, so that an alarm means the same at any number of streams; 0 below `floor`, so
 * that a single failure does not count.
 */
function percent(label: string, { part, whole, floor }: Share, options: MetricOptions): IMetric {
  const [parts, wholes] = [toIds('part', part), toIds('whole', whole)];
  const [some, all] = [sumExpression(Object.keys(parts)), sumExpression(Object.keys(wholes))];
  return new MathExpression({
    label: `${label}, %`,
    // The larger of both, since throttled invocations are not among the invocations.
    expression: `IF(${some} >= ${floor}, 100 * ${some} / MAX([${some}, ${all}]), 0)`,
    usingMetrics: { ...parts, ...wholes },
    ...options,
  });
}

/**
 * Returns a sum that treats missing metrics as 0. An idle function has no metrics, and `a + b` has no value without
 * one.
 */
function sumExpression(ids: string[]): string {
  return `SUM([${ids.map((id) => `FILL(${id}, 0)`).join(', ')}])`;
}
