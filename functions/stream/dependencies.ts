import { setTimeout as wait } from 'node:timers/promises';
import { createSharedHttpDeps } from '../../adapters/aws/http/shared-dependencies.ts';
import { createHttpFunction } from '../../adapters/aws/http/http-function.ts';
import type { HttpFunction } from '../../adapters/aws/http/http-function.ts';
import { createTelemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import type { Telemetry } from '../../adapters/aws/telemetry/telemetry.ts';
import { createApp } from '../../adapters/http/app.ts';
import type { EventStreams } from '../../adapters/http/sse/messages.ts';
import { mountMcp } from '../../adapters/mcp/mount-mcp.ts';
import { mountOpenApi } from '../../adapters/openapi/mount-openapi.ts';
import { type EventSessions, pollingSignals } from '../../core/ports/event-sessions.ts';
import type { StreamConfig } from './config.ts';

export type StreamFunctionDeps = { respond: HttpFunction } & Pick<Telemetry, 'during'>;

/**
 * Creates the dependencies, once per instance: the app of `api` with event streams and MCP, whose SDK the first request
 * to it loads.
 */
export function createDependencies(config: StreamConfig): StreamFunctionDeps {
  const telemetry = createTelemetry({ level: config.LOG_LEVEL, service: config.POWERTOOLS_SERVICE_NAME });
  const { depsFor, sessions, originSecret } = createSharedHttpDeps(config, telemetry);
  const eventStreams = createEventStreams(config, sessions);
  const respond = createHttpFunction({
    originSecret,
    log: telemetry.log,
    baseUrl: config.BASE_URL,
    appFor: (baseUrl, ownHosts) => {
      const all = { ...depsFor(ownHosts), baseUrl, eventStreams };
      const app = createApp(all);
      mountOpenApi(app, all);
      mountMcp(app, all);
      return app;
    },
  });
  return { respond, during: telemetry.during };
}

/**
 * Returns the settings of event streams. A new event is sent after 250 ms on average. A poll reads one item (half a
 * read unit): an hour of a stream is 7,200 reads, $0.0005 at $0.125 per million units.
 */
function createEventStreams(config: StreamConfig, sessions: EventSessions): EventStreams {
  return {
    sessions,
    signals: pollingSignals(sleep, pollMs),
    retryMilliseconds: 2000,
    heartbeatSeconds: config.HEARTBEAT_SECONDS,
    sessionSeconds: config.EVENT_STREAM_SECONDS,
  };
}

/** Time between two reads of a log without new events, in milliseconds. */
const pollMs = 500;

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => undefined);
}
