import { createSharedHttpDeps } from '../../adapters/aws/http/shared-dependencies.ts';
import { createHttpFunction, type HttpFunction } from '../../adapters/aws/http/http-function.ts';
import { noEventSessions } from '../../adapters/aws/http/no-event-sessions.ts';
import { createTelemetry, type Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { createApp } from '../../adapters/http/app.ts';
import type { HttpDeps } from '../../adapters/http/dependencies.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import { pollingSignals } from '../../core/ports/log-signals.ts';
import { mountOpenApi } from '../../adapters/openapi/mount-openapi.ts';
import type { ApiConfig } from './config.ts';

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
