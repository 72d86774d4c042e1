import type { IMetric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { IOrigin, OriginProps } from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Fn, type Duration } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode, type FunctionUrl } from 'aws-cdk-lib/aws-lambda';
import type { ServiceFunction } from '../function/service-function.ts';

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
