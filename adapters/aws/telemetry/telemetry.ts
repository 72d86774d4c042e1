import type { Context } from 'aws-lambda';
import type { Log } from '../../../core/ports/log.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';
import { createMetrics } from './metrics.ts';
import { createPowertoolsLog } from './powertools-log.ts';
import type { PowertoolsLogOptions } from './powertools-log.ts';

/** Logs and metrics of one function instance, with Powertools. */
export type Telemetry = {
  log: Log;
  measurements: MetricsSink;
  /** Runs one invocation: adds its request id to log entries and writes metrics at the end. */
  during<Result>(context: Context, work: () => Promise<Result>): Promise<Result>;
};

/** Creates the telemetry of a function instance. */
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
      } finally {
        metrics.flush();
      }
    },
  };
}
