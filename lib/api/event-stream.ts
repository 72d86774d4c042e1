import { Construct } from 'constructs';
import type { StreamEnvironment } from '../../functions/stream/config.ts';
import { allowHttp, allowReadingEvents, httpEnvironment } from './http-environment.ts';
import type { HttpFunctionProps } from './http-environment.ts';
import { ServiceFunction, type FunctionContext, type OwnEnvironment } from '../function/service-function.ts';
import { createUrlOrigin, type StreamOrigin, StreamRestApi } from './stream-origin.ts';

/**
 * Function with an origin of its own, for responses that stream or take longer than the 30 s of the HTTP API. `events`
 * serves the paths of event streams and `stream` the others, with the same code: forgotten readers use up no execution
 * that a creation or a check needs.
 */
export class EventStream extends Construct {
  readonly origin: StreamOrigin;
  readonly function: ServiceFunction;

  constructor(
    scope: Construct,
    id: string,
    context: FunctionContext,
    deps: HttpFunctionProps,
    name: 'stream' | 'events',
  ) {
    super(scope, id);
    const { eventStreams, reservedConcurrency } = context.settings;
    // Creations that stream their events hold at most half of the executions of their function.
    const streamingCreations = Math.max(1, Math.floor((reservedConcurrency.stream ?? Infinity) / 2));
    const environment: OwnEnvironment<StreamEnvironment> = {
      ...httpEnvironment(this, context.settings, deps),
      EVENT_STREAMS_PER_CALLER: String(context.settings.eventStreamsPerCaller),
      EVENT_STREAMS: String(name === 'events' ? eventStreams : Math.min(eventStreams, streamingCreations)),
      EVENT_POOL: name === 'events' ? 'all' : 'creations',
      EVENT_STREAM_SECONDS: '840',
      // CloudFront closes a connection that is silent for 60 s.
      HEARTBEAT_SECONDS: '15',
    };
    this.function = new ServiceFunction(this, 'Stream', context, {
      name,
      bundle: 'stream',
      // As `api`: a session mostly waits, and Lambda bills memory over time.
      memoryMegabytes: 512,
      // Maximum of Lambda; a session ends a minute earlier.
      timeoutSeconds: 900,
      environment,
    });
    if (name === 'events') allowReadingEvents(this.function, deps);
    else allowHttp(this.function, context.settings, deps);
    const { liveFunction, timeoutSeconds } = this.function;
    this.origin =
      context.settings.streamOrigin === 'rest-api'
        ? new StreamRestApi(this, 'RestApi', {
            function: liveFunction,
            timeoutSeconds,
            settings: context.settings,
          })
        : createUrlOrigin(this.function);
  }
}
