import { createSharedHttpDeps } from '../../adapters/aws/http/shared-dependencies.ts';
import { createHttpFunction, type HttpFunction } from '../../adapters/aws/http/http-function.ts';
import { createTelemetry, type Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { createApp } from '../../adapters/http/app.ts';
import type { HttpDeps } from '../../adapters/http/dependencies.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import { pollingSignals, type EventSessions } from '../../core/ports/event-sessions.ts';
import { mountOpenApi } from '../../adapters/openapi/mount-openapi.ts';
import type { ApiConfig } from './config.ts';
import { WatchpostError } from '../../core/errors.ts';

/**
 * Sessions of an origin without streaming: the HTTP API buffers a response and limits it to 30 s. `open` throws an
 * error with the right URL before a job is created.
 */
export const noEventSessions: EventSessions = {
  perCaller: 0,
  open: async () => {
    throw new WatchpostError(
      'BAD_REQUEST',
      'This URL does not support event streams',
      'Use the base URL of the service, or read GET /jobs/{job_id}/events as JSON.',
    );
  },
};

export type ApiFunctionDeps = { respond: HttpFunction; setTimer?: SetTimer } & Pick<Telemetry, 'during'>;

/**
 * Creates the dependencies, once per instance. Without MCP: its SDK adds 100 ms to a cold start, so `stream` serves it.
 */
export function createDependencies(config: ApiConfig): ApiFunctionDeps {
  const telemetry = createTelemetry({ level: config.LOG_LEVEL, service: config.POWERTOOLS_SERVICE_NAME });
  const { depsFor, originSecret } = createSharedHttpDeps(config, telemetry);
  const respond = createHttpFunction({
    originSecret,
    log: telemetry.log,
    baseUrl: config.BASE_URL,
    appFor: (baseUrl, ownHosts) => {
      const app = createApp({ ...depsFor(ownHosts), baseUrl, eventStreams });
      mountOpenApi(app, { baseUrl });
      return app;
    },
  });
  return { respond, during: telemetry.during };
}

const eventStreams: HttpDeps['eventStreams'] = {
  sessions: noEventSessions,
  signals: pollingSignals(async () => undefined, 0),
  retryMilliseconds: 0,
  heartbeatSeconds: 0,
  sessionSeconds: 0,
};
