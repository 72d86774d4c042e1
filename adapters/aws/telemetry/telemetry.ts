import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import {
  type Log,
  type LogFields,
  metricUnits,
  type MetricsSink,
} from '../../../core/ports/observability.ts';
import { redactedLog } from '../../../core/observability/redact.ts';

/** Version from package.json, defined by the bundler. */
declare const WATCHPOST_VERSION: string | undefined;

/** Version of this service. */
export const softwareVersion = typeof WATCHPOST_VERSION === 'string' ? WATCHPOST_VERSION : 'development';

/** Logs and metrics of one function instance, with Powertools. */
export type Telemetry = {
  log: Log;
  measurements: MetricsSink;
  /**
   * Runs one invocation: adds its request id to log entries, writes metrics at the end, and throws the name of an error
   * only.
   */
  during<Result>(context: Context, work: () => Promise<Result>): Promise<Result>;
};

export function createTelemetry(options: PowertoolsLogOptions): Telemetry {
  const log = createPowertoolsLog(options);
  const metrics = createMetrics(options.service);
  return {
    log,
    measurements: metrics,
    during: async (context, work) => {
      log.during(context);
      try {
        return await work();
      } catch (error) {
        const { stack = String(error), name = 'Error' } = error instanceof Error ? error : {};
        log.error('Invocation failed', { error: stack });
        throw nameOnly(name);
      } finally {
        metrics.flush();
      }
    },
  };
}

/**
 * Returns an error without the text of the failure: Lambda logs what a handler throws with its secrets, and Step
 * Functions keeps it for 90 days. The log has the text, redacted.
 */
function nameOnly(name: string): Error {
  return Object.assign(new Error('The log of the function has the cause'), { name, stack: name });
}

type FunctionMetrics = MetricsSink & {
  /** Writes the collected metrics as one log line (embedded metric format). Sends no request. */
  flush(): void;
};

/** CloudWatch namespace of all metrics. */
export const metricNamespace = 'Watchpost';

/**
 * Creates the metrics. Their dimension is `service`, the deployment's name; those of one caller have `caller` as well,
 * since each combination is billed as another series.
 */
function createMetrics(service: string): FunctionMetrics {
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
    const own = ofCallers.get(caller) ?? create();
    if (!ofCallers.has(caller)) own.addDimension('caller', caller);
    ofCallers.set(caller, own);
    return own;
  }
}

export type PowertoolsLogOptions = { level: 'debug' | 'info' | 'warning' | 'error'; service: string };

type FunctionLog = Log & {
  /** Adds the request id and the trace id to each following entry. */
  during(context: Context): void;
};

/**
 * Creates a log that writes JSON to standard output, which Lambda sends to the log group. Additional data is in
 * `fields`, so that it cannot replace fields of the logger.
 */
export function createPowertoolsLog({ level, service }: PowertoolsLogOptions): FunctionLog {
  const logger = new Logger({ serviceName: service, logLevel: level === 'warning' ? 'WARN' : level });
  const write = (method: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
    if (fields === undefined) logger[method](message);
    else logger[method](message, { fields });
  };
  return {
    ...redactedLog({
      debug: write('debug'),
      info: write('info'),
      warning: write('warn'),
      error: write('error'),
    }),
    during: (context) => logger.addContext(context),
  };
}
