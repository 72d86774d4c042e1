import { Tracer } from '@aws-lambda-powertools/tracer';
import type { Context } from 'aws-lambda';
import type { Log } from '../../../core/ports/log.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';
import { createMetrics } from './metrics.ts';
import { createPowertoolsLog } from './powertools-log.ts';
import type { PowertoolsLogOptions } from './powertools-log.ts';

/** Logs, metrics and traces of one function instance, with Powertools. */
export type Telemetry = {
  log: Log;
  measurements: MetricsSink;
  /** Adds a client's requests to the trace. Returns it unchanged if tracing is disabled. */
  traced<Client>(client: Client): Client;
  /** Runs one invocation: adds its request id to log entries and writes metrics at the end. */
  during<Result>(context: Context, work: () => Promise<Result>): Promise<Result>;
};

/** Creates the telemetry of a function instance. */
export function createTelemetry(options: PowertoolsLogOptions): Telemetry {
  const log = createPowertoolsLog(options);
  const metrics = createMetrics(options.service);
  // Only AWS clients are traced. Tracing all HTTP would record URLs of webhooks and streams, and send trace ids to
  // third parties.
  const tracer = new Tracer({ serviceName: options.service, captureHTTPsRequests: false });
  return {
    log,
    measurements: metrics,
    traced: (client) => tracer.captureAWSv3Client(client),
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
