import { Readable } from 'node:stream';
import { InvokeStore } from '@aws/lambda-invoke-store';
import {
  isClockSkewError,
  isServerError,
  isThrottlingError,
  isTransientError,
  StandardRetryStrategy,
} from '@smithy/core/retry';
import { Hash } from '@smithy/core/serde';
import { HttpRequest } from '@smithy/core/transport';
import { NodeHttpHandler, streamCollector } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import type {
  AwsCredentialIdentity,
  RetryErrorType,
  SdkError,
  StandardRetryBackoffStrategy,
} from '@smithy/types';
import { softwareVersion } from '../software-version.ts';
import { toResponseError } from './response-error.ts';
import { findOwnEndpoint, regionalEndpoint, type AwsService } from './services.ts';

/** Request to an AWS service, before its signature. */
export type AwsRequest = {
  service: AwsService;
  method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Percent-encoded path. */
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Bucket of a request to S3. */
  bucket?: string;
  signal?: AbortSignal;
  /** Maximum time to the headers of the response, in milliseconds; 0 for none. Default: 10 s. */
  timeoutMs?: number;
};

/** Successful response. */
export type AwsResponse = { headers: Record<string, string>; body: Uint8Array };

/** Sends signed requests, with retries. Throws `AwsResponseError` and errors of the connection, which `toCoreError` maps. */
export type AwsRequests = (request: AwsRequest) => Promise<AwsResponse>;

/** Dependencies of `createAwsRequests`. */
export type AwsRequestsDeps = {
  region: () => Promise<string>;
  credentials: () => Promise<AwsCredentialIdentity>;
  /** Endpoint of all services. Default: `AWS_ENDPOINT_URL_…` of the environment, or the regional endpoints. */
  endpoint?: string;
  /** Client for HTTP. Default: that of the SDK, which keeps connections. */
  handler?: Pick<NodeHttpHandler, 'handle'>;
  /** Default: the system clock. */
  nowMs?: () => number;
  /** Waits of retries. Default: those of the SDK. */
  backoff?: StandardRetryBackoffStrategy;
};

/** Attempts and first wait of the SDK for DynamoDB, whose requests are short, and for the others. */
const retryRules = { dynamodb: { maxAttempts: 4, baseDelay: 25 }, others: { maxAttempts: 3, baseDelay: 50 } };

/** Time limits of a connection and of the headers of a response, in milliseconds. An instance that was frozen may have dead connections. */
const [maxConnectMs, maxResponseMs] = [3_000, 10_000];

/** Difference to the clock of AWS from which it is corrected. A signature is valid for five minutes. */
const maxClockSkewMs = 4 * 60 * 1000;

/**
 * Creates signed requests from the signer, the retries and the HTTP client of the AWS SDK. Leaves out its generated clients, which are most of
 * the bytes and of the time of a cold start. Sends no request.
 */
export function createAwsRequests(deps: AwsRequestsDeps): AwsRequests {
  const { region, credentials, endpoint, nowMs = Date.now, backoff } = deps;
  const handler = deps.handler ?? createHandler();
  const toStrategy = (rule: { maxAttempts: number; baseDelay: number }) =>
    new StandardRetryStrategy({ ...rule, ...(backoff && { backoff }) });
  const strategies = { dynamodb: toStrategy(retryRules.dynamodb), others: toStrategy(retryRules.others) };
  let clockSkewMs = 0;

  return async (request) => {
    const strategy = strategies[request.service === 'dynamodb' ? 'dynamodb' : 'others'];
    let token = await strategy.acquireInitialRetryToken(request.service);
    for (;;) {
      try {
        const response = await attempt(request);
        strategy.recordSuccess(token);
        return response;
      } catch (error) {
        // Rejects if the error is final.
        token = await strategy.refreshRetryTokenForRetry(token, { errorType: classify(error) }).catch(() => {
          throw error;
        });
        request.signal?.throwIfAborted();
      }
    }
  };

  async function attempt(request: AwsRequest): Promise<AwsResponse> {
    const { service, signal, timeoutMs } = request;
    const signer = new SignatureV4({
      credentials,
      region,
      service,
      sha256: Hash.bind(null, 'sha256'),
      uriEscapePath: service !== 's3',
      applyChecksum: service === 's3',
    });
    const unsigned = await address(request);
    const signed = await signer.sign(unsigned, { signingDate: new Date(nowMs() + clockSkewMs) });
    const { response } = await handler.handle(new HttpRequest(signed), {
      ...(signal && { abortSignal: signal }),
      ...(timeoutMs !== undefined && { requestTimeout: timeoutMs }),
    });
    const { statusCode, headers } = response;
    const body = await readBody(response.body);
    if (statusCode < 300) return { headers, body };
    const error = toResponseError({ statusCode, headers, body });
    if (isSdkError(error) && isClockSkewError(error) && correctClock(headers['date']))
      error.$metadata.clockSkewCorrected = true;
    throw error;
  }

  /** Returns true if the clock differed. The next attempt is then signed with the time of AWS. */
  function correctClock(date: string | undefined): boolean {
    const skewMs = Date.parse(date ?? '') - nowMs();
    if (!(Math.abs(skewMs - clockSkewMs) > maxClockSkewMs)) return false;
    clockSkewMs = skewMs;
    return true;
  }

  async function address({ service, method, path, query, headers, body, bucket }: AwsRequest) {
    const own = endpoint ?? findOwnEndpoint(service, process.env);
    const url = new URL(own ?? regionalEndpoint(service, await region()));
    // Own endpoints have no name for each bucket.
    if (bucket !== undefined && own === undefined) url.hostname = `${bucket}.${url.hostname}`;
    const folder = bucket !== undefined && own !== undefined ? `/${bucket}` : '';
    return new HttpRequest({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== '' && { port: Number(url.port) }),
      path: `${url.pathname.replace(/\/$/, '')}${folder}${path}`,
      query: query ?? {},
      headers: {
        host: url.host,
        'user-agent': `watchpost/${softwareVersion}`,
        ...(await traceHeaders()),
        ...headers,
      },
      body,
    });
  }
}

/** Creates signed requests with the region and the credentials that Lambda sets for an instance. */
export function lambdaRequests(): AwsRequests {
  return createAwsRequests({
    region: async () => readVariable('AWS_REGION'),
    credentials: async () => {
      const sessionToken = process.env['AWS_SESSION_TOKEN'];
      return {
        accessKeyId: readVariable('AWS_ACCESS_KEY_ID'),
        secretAccessKey: readVariable('AWS_SECRET_ACCESS_KEY'),
        ...(sessionToken !== undefined && { sessionToken }),
      };
    },
  });
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`The environment has no ${name}`);
  return value;
}

function createHandler(): NodeHttpHandler {
  return new NodeHttpHandler({
    connectionTimeout: maxConnectMs,
    requestTimeout: maxResponseMs,
    throwOnRequestTimeout: true,
  });
}

async function readBody(stream: unknown): Promise<Uint8Array> {
  if (!(stream instanceof Readable)) throw new Error('A response of AWS has no body');
  return streamCollector(stream);
}

function classify(error: unknown): RetryErrorType {
  if (!isSdkError(error)) return 'CLIENT_ERROR';
  if (isThrottlingError(error)) return 'THROTTLING';
  if (isTransientError(error)) return 'TRANSIENT';
  return isServerError(error) ? 'SERVER_ERROR' : 'CLIENT_ERROR';
}

/** Errors of the connection and of responses have what the retries of the SDK read. */
function isSdkError(error: unknown): error is SdkError {
  return error instanceof Error;
}

/** Continues the trace of the invocation, as the SDK does: X-Ray joins the segments of functions that invoke each other. */
async function traceHeaders(): Promise<Record<string, string>> {
  if (process.env['AWS_LAMBDA_FUNCTION_NAME'] === undefined) return {};
  const store = await InvokeStore.getInstanceAsync();
  const traceId = store.getXRayTraceId() ?? process.env['_X_AMZN_TRACE_ID'];
  return traceId ? { 'X-Amzn-Trace-Id': traceId } : {};
}
