import type { IMetric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IOrigin, OriginProps } from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin, HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Fn, Duration, Validations } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode, type FunctionUrl, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ServiceFunction } from '../function/service-function.ts';
import {
  EndpointType,
  LambdaIntegration,
  ResponseTransferMode,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { errorResponse } from '../../adapters/http/error-envelope.ts';
import { RateLimitedError, WatchpostError } from '../../core/errors.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type OriginOptions = Pick<OriginProps, 'customHeaders'> & {
  readTimeout: Duration;
  keepaliveTimeout: Duration;
};

/** Address from which CloudFront reads the responses of `stream`. */
export type StreamOrigin = {
  host: string;
  createOrigin(options: OriginOptions): IOrigin;
  /** Returns the number of 5xx responses, and that of all requests. */
  faults(options: MetricOptions): IMetric;
  requests(options: MetricOptions): IMetric;
};

/** Creates the public URL of the function, the default. */
export function createUrlOrigin({ live, lambda }: ServiceFunction): StreamOrigin {
  const url: FunctionUrl = live.addFunctionUrl({
    // CloudFront's signature would replace the caller's Authorization header, so a secret header protects the URL.
    authType: FunctionUrlAuthType.NONE,
    invokeMode: InvokeMode.RESPONSE_STREAM,
  });
  return {
    host: Fn.parseDomainName(url.url),
    createOrigin: (options) => new FunctionUrlOrigin(url, options),
    faults: (options) => lambda.metric('Url5xxCount', { statistic: 'Sum', ...options }),
    requests: (options) => lambda.metric('UrlRequestCount', { statistic: 'Sum', ...options }),
  };
}

type Props = {
  function: IFunction;
  /** Maximum duration of a response, in seconds. */
  timeoutSeconds: number;
  settings: Pick<StageSettings, 'apiRequestsPerSecond'>;
};

/** Stage of the API, which CloudFront adds to the path. */
const stageName = 'live';

/**
 * REST API that streams the responses of `stream`, for accounts that forbid public function URLs
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode-lambda.html). Its own answers
 * have the error envelope.
 */
export class StreamRestApi extends Construct implements StreamOrigin {
  readonly #api: RestApi;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { apiRequestsPerSecond } = props.settings;
    this.#api = new RestApi(this, 'Api', {
      description: 'Watchpost: responses of the function stream',
      endpointTypes: [EndpointType.REGIONAL],
      // The role is one of the account: a stack must not replace it.
      cloudWatchRole: false,
      deployOptions: {
        stageName,
        throttlingRateLimit: apiRequestsPerSecond,
        throttlingBurstLimit: 2 * apiRequestsPerSecond,
      },
      defaultIntegration: new LambdaIntegration(props.function, {
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: Duration.seconds(props.timeoutSeconds),
        allowTestInvoke: false,
      }),
    });
    this.#api.root.addMethod('ANY');
    this.#api.root.addProxy({ anyMethod: true });
    for (const { name, type, statusCode, error } of gatewayResponses)
      this.#api.addGatewayResponse(name, {
        type,
        ...(statusCode !== undefined && { statusCode }),
        templates: { 'application/json': JSON.stringify(errorResponse(error).body) },
        ...(error instanceof RateLimitedError && {
          responseHeaders: { 'Retry-After': `'${error.retryAfterSeconds}'` },
        }),
      });
    this.#explain();
  }

  get host(): string {
    const { restApiId, env, stack } = this.#api;
    return `${restApiId}.execute-api.${env.region}.${stack.urlSuffix}`;
  }

  createOrigin(options: Parameters<StreamOrigin['createOrigin']>[0]): HttpOrigin {
    return new HttpOrigin(this.host, { originPath: `/${stageName}`, ...options });
  }

  faults(options: MetricOptions): IMetric {
    return this.#api.metricServerError({ statistic: 'Sum', ...options });
  }

  requests(options: MetricOptions): IMetric {
    return this.#api.metricCount({ statistic: 'Sum', ...options });
  }

  #explain(): void {
    const api = Validations.of(this.#api);
    const appChecks =
      'The app verifies its API keys, scopes and requests and returns the error envelope of the contract, which API Gateway cannot.';
    for (const rule of ['APIG2', 'APIG4', 'COG4'])
      api.acknowledge({ id: `AwsSolutions-${rule}`, reason: appChecks });
    api.acknowledge({
      id: 'AwsSolutions-APIG3',
      reason:
        'CloudFront is the only caller, known by the origin secret; a web ACL belongs in front of CloudFront.',
    });
    for (const rule of ['AwsSolutions-APIG1', 'AwsSolutions-APIG6', 'Serverless-APIGWAccessLogging'])
      api.acknowledge({
        id: rule,
        reason:
          'Logs of REST APIs require a role of the whole account. CloudFront logs the requests, and the function its failures.',
      });
    api.acknowledge({
      id: 'Serverless-APIGWXrayEnabled',
      reason: 'Log entries contain the ids of job and request.',
    });
  }
}

/**
 * Answers of API Gateway itself
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
 */
const gatewayResponses: readonly {
  name: string;
  type: ResponseType;
  statusCode?: string;
  error: WatchpostError;
}[] = [
  {
    name: 'Throttled',
    type: ResponseType.THROTTLED,
    statusCode: '429',
    error: new RateLimitedError('The deployment is at its rate limit. Try again in 1 s with backoff.', 1),
  },
  {
    name: 'TooLarge',
    type: ResponseType.REQUEST_TOO_LARGE,
    statusCode: '413',
    error: new WatchpostError('PAYLOAD_TOO_LARGE', 'Request body too large', 'Send a smaller body.'),
  },
  {
    name: 'Default4xx',
    type: ResponseType.DEFAULT_4XX,
    error: new WatchpostError('BAD_REQUEST', 'Invalid request', 'Send a valid HTTP request.'),
  },
  {
    name: 'Default5xx',
    type: ResponseType.DEFAULT_5XX,
    error: new WatchpostError(
      'INTERNAL_ERROR',
      'Internal server error',
      'Try again with exponential backoff. The service is restarting or at capacity.',
    ),
  },
];
