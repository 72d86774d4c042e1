import { Tracer } from '@aws-lambda-powertools/tracer';
import type { Context } from 'aws-lambda';
import type { Log } from '../../../core/ports/log.ts';
import type { Measurements } from '../../../core/ports/measurements.ts';
import { createMetrics } from './metrics.ts';
import { createPowertoolsLog } from './powertools-log.ts';
import type { PowertoolsLogOptions } from './powertools-log.ts';

/** What a function tells its operators: logs, metrics and traces, by Powertools. One an instance of a function. */
export type Telemetry = {
  log: Log;
  measurements: Measurements;
  /** The client, with each of its requests in the trace; as it is where nothing is traced. */
  traced<Client>(client: Client): Client;
  /** Does the work of one invocation: its entries carry the request's id, its metrics are written at the end. */
  during<Result>(context: Context, work: () => Promise<Result>): Promise<Result>;
};

export function createTelemetry(options: PowertoolsLogOptions): Telemetry {
  const log = createPowertoolsLog(options);
  const metrics = createMetrics(options.service);
  // AWS's own clients are traced one by one. Tracing all HTTP would write the URLs of webhooks and streams into traces, and send trace ids to strangers.
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
