import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StreamEnvironment } from '../functions/stream/config.ts';
import { allowHttp, httpEnvironment } from './http-function.ts';
import type { HttpFunctionProps } from './http-function.ts';
import { ServiceFunction } from './service-function.ts';
import type { FunctionContext, OwnEnvironment } from './service-function.ts';

/** Function with its own URL, for responses that stream or take longer than the 30 s of the HTTP API. */
export class EventStream extends Construct {
  readonly url: FunctionUrl;
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, context: FunctionContext, deps: HttpFunctionProps) {
    super(scope, id);
    const environment: OwnEnvironment<StreamEnvironment> = {
      ...httpEnvironment(this, context.settings, deps),
      EVENT_STREAMS_PER_CALLER: String(context.settings.eventStreamsPerCaller),
      EVENT_STREAMS: String(context.settings.eventStreams),
      EVENT_STREAM_SECONDS: '840',
      // CloudFront closes a connection that is silent for 60 s.
      HEARTBEAT_SECONDS: '15',
    };
    this.function = new ServiceFunction(this, 'Stream', context, {
      name: 'stream',
      // As `api`: a session mostly waits, and Lambda bills memory over time.
      memoryMegabytes: 512,
      // Maximum of Lambda; a session ends a minute earlier.
      timeoutSeconds: 900,
      environment,
    });
    allowHttp(this.function, deps);
    this.url = this.function.lambda.addFunctionUrl({
      // CloudFront's signature would replace the caller's Authorization header, so a secret header protects the URL.
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    });
  }
}
