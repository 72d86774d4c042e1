import {
  createAwsRequests,
  type AwsRequests,
  type AwsRequestsDeps,
} from '../../../../adapters/aws/requests/aws-requests.ts';
import { AwsResponseError } from '../../../../adapters/aws/requests/response-error.ts';

/** Creates signed requests to a local server, whose retries wait not at all. */
export function localRequests(deps: Partial<AwsRequestsDeps> = {}): AwsRequests {
  return createAwsRequests({
    region: async () => 'eu-central-1',
    credentials: async () => ({ accessKeyId: 'local', secretAccessKey: 'local' }),
    backoff: { setDelayBase: () => undefined, computeNextBackoffDelay: () => 0 },
    ...deps,
  });
}

/** Returns the error of a service with this code. */
export function serviceError(code: string, httpStatusCode = 400): AwsResponseError {
  return new AwsResponseError(code, code, { httpStatusCode }, {});
}
