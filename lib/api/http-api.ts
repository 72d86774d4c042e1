import { Validations, Duration } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi as Api, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import { maxHttpApiSeconds } from '../../adapters/aws/http/origins.ts';
import { allowHttp, httpEnvironment, type HttpFunctionProps } from './http-environment.ts';
import { ServiceFunction, type FunctionContext } from '../function/service-function.ts';
import { PrivateBucket, toRemovalPolicy } from '../storage/buckets.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type Props = Pick<StageSettings, 'logDays' | 'keepData'>;

/** Bucket with the access logs of CloudFront and S3; objects expire after `logDays`. */
export class AccessLogs extends Construct {
  readonly bucket: PrivateBucket;

  constructor(scope: Construct, id: string, { logDays, keepData }: Props) {
    super(scope, id);
    this.bucket = new PrivateBucket(this, 'Bucket', {
      lifecycleRules: [{ expiration: Duration.days(logDays) }],
      removalPolicy: toRemovalPolicy(keepData),
      autoDeleteObjects: !keepData,
    });
  }
}

/** HTTP API for responses within 30 s: one route, one function, behind CloudFront. */
export class HttpApi extends Construct {
  readonly api: Api;
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, context: FunctionContext, deps: HttpFunctionProps) {
    super(scope, id);
    const { settings, log } = context;
    this.function = new ServiceFunction(this, 'Api', context, {
      name: 'api',
      // A third of a core: parsing and TLS of a cold start take less than a second. Bodies have at most 5 MB.
      memoryMegabytes: 512,
      timeoutSeconds: maxHttpApiSeconds,
      environment: httpEnvironment(this, settings, deps),
    });
    allowHttp(this.function, settings, deps);
    this.api = new Api(this, 'HttpApi', {
      createDefaultStage: false,
      defaultIntegration: new HttpLambdaIntegration('Integration', this.function.liveFunction),
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: settings.apiRequestsPerSecond, burstLimit: 2 * settings.apiRequestsPerSecond },
      accessLogSettings: { destination: new LogGroupLogDestination(log.access), format: accessLogFormat() },
    });
    Validations.of(this.api).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason:
        'The app verifies its API keys and scopes and returns the error envelope of the contract, which an API Gateway authorizer cannot.',
    });
  }

  get host(): string {
    return `${this.api.apiId}.execute-api.${this.api.env.region}.${this.api.stack.urlSuffix}`;
  }
}

/** Returns the access log format: no headers and no bodies, because they contain keys. */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      request: '$context.requestId',
      at: '$context.requestTimeEpoch',
      method: '$context.httpMethod',
      path: '$context.path',
      status: '$context.status',
      milliseconds: '$context.responseLatency',
      bytes: '$context.responseLength',
      error: '$context.integrationErrorMessage',
    }),
  );
}
