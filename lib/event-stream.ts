import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StreamEnvironment } from '../functions/stream/config.ts';
import { allowHttp, httpEnvironment } from './http-function.ts';
import type { HttpNeeds } from './http-function.ts';
import { ServiceFunction } from './service-function.ts';
import type { FunctionGround, OwnEnvironment } from './service-function.ts';

/** What streams its answer or may take longer than the HTTP API waits: a function behind an address of its own. */
export class EventStream extends Construct {
  readonly url: FunctionUrl;
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, ground: FunctionGround, needs: HttpNeeds) {
    super(scope, id);
    const environment: OwnEnvironment<StreamEnvironment> = {
      ...httpEnvironment(this, ground.settings, needs),
      EVENT_STREAMS_PER_CALLER: String(ground.settings.eventStreamsPerCaller),
      EVENT_STREAM_SECONDS: '840',
      // CloudFront closes what is silent for 60 s.
      HEARTBEAT_SECONDS: '15',
    };
    this.function = new ServiceFunction(this, 'Stream', ground, {
      name: 'stream',
      // As `api`: most of a session is waiting, billed by memory.
      memoryMegabytes: 512,
      // Lambda's most; a session ends a minute before.
      timeoutSeconds: 900,
      environment,
    });
    allowHttp(this.function, needs);
    this.url = this.function.lambda.addFunctionUrl({
      // CloudFront's signature would take the place of the caller's Authorization; the secret header stands guard instead.
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.RESPONSE_STREAM,
    });
  }
}
