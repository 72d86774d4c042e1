import { follow, type FollowOptions } from './follow.ts';
import type * as Api from './openapi-types.ts';
import { toError } from './errors.ts';
import { createTransport, randomKey, type Call, type ClientOptions } from './transport.ts';
import { watchOperations, type Requests } from './watches.ts';

/** Client of one service and key, as `createClient` returns it. */
export type Watchpost = ReturnType<typeof createClient>;

type Signal = { signal?: AbortSignal | undefined };
/**
 * Idempotency key: a repeated key replays the first response. Default: one key per call, so that retries create one
 * job.
 */
type Creation = Signal & { idempotencyKey?: string };

/**
 * Creates a client with one function per API operation. Retries transient errors of repeatable requests. Throws
 * `WatchpostError` for an error response, `RequestInvalidError` for a 422, `ConnectionError` if the service is
 * unreachable.
 *
 * @example
 * const watchpost = createClient({ baseUrl: 'https://HOST/api', apiKey }); const { job_id } = await
 * watchpost.startMonitor({ stream_url, condition: 'A ship is in the lock' }); for await (const event of
 * watchpost.follow(job_id)) console.log(event.type, event.data);
 */
export function createClient(options: ClientOptions) {
  const transport = createTransport(options);

  const send = <Answer>(call: Call): Promise<Answer> => transport.send(call, readJson<Answer>);
  const jpeg = (path: string, { signal }: Signal): Promise<Uint8Array> =>
    transport.send({ method: 'GET', path, repeatable: true, signal }, readBytes);

  const get = <Answer>(path: string, query: Call['query'], { signal }: Signal) =>
    send<Answer>({ method: 'GET', path, query: query ?? {}, repeatable: true, signal });
  const post = <Answer>(path: string, body: object | undefined, { signal }: Signal, repeatable: boolean) =>
    send<Answer>({ method: 'POST', path, ...(body && { body }), repeatable, signal });
  const create = (path: string, body: object | undefined, { signal, idempotencyKey }: Creation) =>
    send<Api.JobSummary>({
      method: 'POST',
      path,
      ...(body && { body }),
      headers: { 'Idempotency-Key': idempotencyKey ?? randomKey() },
      repeatable: true,
      signal,
    });

  const requests = { get, post, send, jpeg, create, transport };
  return {
    ...checkOperations(requests),
    ...jobOperations(requests),
    ...watchOperations(requests),
    ...webhookOperations(requests),
    ...keyOperations(requests),
    ...operatorOperations(requests),
  };
}

type AllRequests = Requests & {
  create: (path: string, body: object | undefined, options: Creation) => Promise<Api.JobSummary>;
};

function checkOperations({ get, post }: AllRequests) {
  return {
    /** Checks a condition on a stream once. */
    checkOnce: (request: Api.CheckOnceRequest, o: Signal = {}) =>
      post<Api.CheckOnceResponse>('/check-once', request, o, true),
    /** Advises on a condition: doubts, settings that fit, cost. Calls no model. */
    adviseCondition: (request: Api.AdviseRequest, o: Signal = {}) =>
      post<Api.Advice>('/conditions/advise', request, o, true),
    /** Answers a question about a JPEG, without a stream. */
    analyzeFrame: (request: Api.AnalyzeFrameRequest, o: Signal = {}) =>
      post<Api.AnalyzeFrameResponse>('/analyze-frame', request, o, true),
    /** Validates a stream URL; an offline stream is a result, not an error. */
    validateStream: (request: Api.ValidateStreamRequest, o: Signal = {}) =>
      post<Api.StreamValidation>('/streams/validate', request, o, true),
    /** Lists the ONVIF cameras of the network; only on one machine with allowed ranges. */
    listCameras: (o: Signal = {}) => get<Api.CameraList>('/cameras', {}, o),
    /** Reads the addresses of the streams of a camera. Without retries: cameras lock users out. */
    cameraStreams: (request: Api.CameraStreamsRequest, o: Signal = {}) =>
      post<Api.CameraStreams>('/cameras/streams', request, o, false),
  };
}

function jobOperations({ get, send, create, jpeg, transport }: AllRequests) {
  return {
    /** Starts a monitor; the job is pending. */
    startMonitor: (request: Api.MonitorRequest, o: Creation = {}) => create('/live-monitor', request, o),
    /** Starts a digest; the job is pending. */
    startDigest: (request: Api.DigestRequest, o: Creation = {}) => create('/live-digest', request, o),
    /** Lists jobs, newest first. */
    listJobs: (query: JobFilter = {}, o: Signal = {}) => get<Api.JobList>('/jobs', query, o),
    /** Returns a job with statistics and newest alerts or summaries. */
    getJob: (jobId: string, o: Signal = {}) => get<Api.JobDetail>(job(jobId), {}, o),
    /** Cancels a job. Without retries: a repeated cancellation fails with `JOB_ALREADY_STOPPED`. */
    cancelJob: (jobId: string, { signal }: Signal = {}) =>
      send<Api.CancelledJob>({ method: 'DELETE', path: job(jobId), repeatable: false, signal }),
    /** Returns one page of the event log; images are links. */
    listEvents: (jobId: string, query: EventFilter = {}, o: Signal = {}) =>
      get<Api.EventPage>(`${job(jobId)}/events`, query, o),
    /** Yields each event of the log once and in order until `job_stopped`; reconnects automatically. */
    follow: (jobId: string, o: FollowOptions = {}) => follow(jobId, o, transport),
    /** Returns the JPEG of a `watch_triggered` or `summary_generated` event. */
    picture: (jobId: string, sequence: number, { boxes, ...o }: Signal & { boxes?: boolean } = {}) =>
      jpeg(`${job(jobId)}/media/${sequence}${boxes ? '?boxes=true' : ''}`, o),
    /** Returns the newest frame of a job as JPEG, captured at `stats.last_frame_at`. */
    frame: (jobId: string, o: Signal = {}) => jpeg(`${job(jobId)}/frame`, o),
  };
}

function webhookOperations({ get, post, send, create }: AllRequests) {
  return {
    /** Returns one page of webhook deliveries, oldest first. */
    listDeliveries: (jobId: string, query: DeliveryFilter = {}, o: Signal = {}) =>
      get<Api.DeliveryPage>(`${job(jobId)}/deliveries`, query, o),
    /** Starts a job with the request of another one. */
    runAgain: (jobId: string, o: Creation = {}) => create(`${job(jobId)}/run-again`, undefined, o),
    /** Starts a new series of attempts for an ended delivery. Without retries. */
    resendDelivery: (jobId: string, sequence: number, o: Signal = {}) =>
      post<Api.Resend>(`${job(jobId)}/deliveries/${sequence}/resend`, undefined, o, false),
    /** Sends one signed test event to a URL and returns the result. Without retries. */
    testWebhook: (request: Api.WebhookTestRequest, o: Signal = {}) =>
      post<Api.WebhookTest>('/webhook-test', request, o, false),
    /** Returns the types of events that webhooks of new jobs receive if the job states none. */
    getWebhookDefaults: (o: Signal = {}) => get<Api.WebhookDefaults>('/webhook-defaults', {}, o),
    /** Replaces these types; `null` for all. */
    replaceWebhookDefaults: (request: Api.WebhookDefaultsRequest, { signal }: Signal = {}) =>
      send<Api.WebhookDefaults>({
        method: 'PUT',
        path: '/webhook-defaults',
        body: request,
        repeatable: true,
        signal,
      }),
    getWebhookSecret: (o: Signal = {}) => get<Api.WebhookSecret>('/webhook-secret', {}, o),
    /** Rotates the signing secret. Without retries. */
    rotateWebhookSecret: ({ signal, ...query }: Signal & { grace_seconds?: number } = {}) =>
      send<Api.WebhookSecret>({
        method: 'POST',
        path: '/webhook-secret/rotate',
        query,
        repeatable: false,
        signal,
      }),
  };
}

function keyOperations({ get, post, send }: AllRequests) {
  return {
    /** Returns caller, scopes and label of the key in use. */
    ownKey: (o: Signal = {}) => get<Api.Key>('/me', {}, o),
    /**
     * Lists a page of the keys of a caller, oldest first, without their secret text. The next page begins after
     * `next_after`.
     */
    listKeys: (query: KeyFilter = {}, o: Signal = {}) => get<Api.KeyList>('/keys', query, o),
    /** Creates a key and returns its text, once. Without retries. */
    createKey: (request: Api.KeyRequest, o: Signal = {}) => post<Api.NewKey>('/keys', request, o, false),
    /** Creates a code with which one browser signs in with a key that was never used. */
    createSignInCode: (keyId: string, { signal }: Signal = {}) =>
      send<Api.SignInCode>({ method: 'POST', path: `${key(keyId)}/sign-in-code`, repeatable: false, signal }),
    labelKey: (keyId: string, request: Api.KeyLabel, { signal }: Signal = {}) =>
      send<Api.Key>({ method: 'PATCH', path: key(keyId), body: request, repeatable: true, signal }),
    /** Replaces a key by a new one with the same scopes. Without retries. */
    rotateKey: (keyId: string, { signal, ...query }: Signal & KeyRotation = {}) =>
      send<Api.RotatedKey>({
        method: 'POST',
        path: `${key(keyId)}/rotate`,
        query,
        repeatable: false,
        signal,
      }),
    /** Revokes a key; takes effect within a minute. `descendants` includes every key that descends from it. */
    revokeKey: (keyId: string, { signal, ...query }: Signal & KeyRevocation = {}) =>
      send<Api.RevokedKey>({ method: 'DELETE', path: key(keyId), query, repeatable: true, signal }),
    /** Lists callers. Requires the scope `admin`. */
    listCallers: (query: { after?: string; limit?: number } = {}, o: Signal = {}) =>
      get<Api.CallerList>('/callers', query, o),
    /** Adds a caller. Requires the scope `admin`. */
    addCaller: (request: Api.CallerRequest, o: Signal = {}) => post<Api.Caller>('/callers', request, o, true),
    /** Erases a caller with everything that is stored for it. Repeat until `complete`. Requires the scope `admin`. */
    deleteCaller: (caller: string, { signal }: Signal = {}) =>
      send<Api.Erasure>({
        method: 'DELETE',
        path: `/callers/${encodeURIComponent(caller)}`,
        repeatable: true,
        signal,
      }),
  };
}

function operatorOperations({ get, send, transport }: AllRequests) {
  return {
    /**
     * Returns model calls, tokens and cost of your caller by day; `all` and other callers require the scope `admin`.
     */
    usage: (query: UsageFilter = {}, o: Signal = {}) => get<Api.Usage>('/usage', query, o),
    /** Returns version, limits and model of the service. */
    service: (o: Signal = {}) => get<Api.Service>('/service', {}, o),
    /** Returns usage statistics. Requires the scope `internal`. */
    metrics: ({ signal }: Signal = {}) =>
      send<Api.Metrics>({ method: 'GET', path: '/metrics', headers: internal, repeatable: true, signal }),
    /** Returns usage statistics as text for Prometheus. Requires the scope `internal`. */
    prometheusMetrics: ({ signal }: Signal = {}): Promise<string> =>
      transport.send({ method: 'GET', path: '/metrics/prometheus', repeatable: true, signal }, readText),
    /** Returns alarms. Requires the scope `internal`. `alarms` is `null` in embedded mode. */
    alarms: ({ signal }: Signal = {}) =>
      send<Api.Alarms>({ method: 'GET', path: '/alarms', headers: internal, repeatable: true, signal }),
    /** Returns recent log entries. Requires the scope `internal`. */
    logs: (query: { level?: Api.LogLevel | undefined; limit?: number } = {}, { signal }: Signal = {}) =>
      send<Api.Logs>({ method: 'GET', path: '/logs', query, headers: internal, repeatable: true, signal }),
  };
}

/** Filters and page of `listJobs`; `limit` is 1 to 100. */
export type JobFilter = {
  status?: Api.JobStatus;
  job_type?: Api.JobType;
  label?: string;
  limit?: number;
  offset?: number;
};
/** Filter and page of `listKeys`: keys after the key `after`. */
export type KeyFilter = { caller?: string | undefined; after?: string | undefined; limit?: number };
/** Days (UTC), caller and page of `usage`. */
export type UsageFilter = {
  from?: string;
  to?: string;
  caller?: string;
  all?: boolean;
  after?: string;
  limit?: number;
};
/** Options of `revokeKey`. */
export type KeyRevocation = { descendants?: boolean };
/** Options of `rotateKey`. */
export type KeyRotation = KeyRevocation & { grace_seconds?: number };
/** Page of `listEvents`: events after sequence `after`. */
export type EventFilter = { after?: number; limit?: number };
/** Filter and page of `listDeliveries`: deliveries after sequence `after`. */
export type DeliveryFilter = { state?: Api.DeliveryState; after?: number; limit?: number };

async function readJson<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    // The types are generated from the OpenAPI document. A body is not validated: a newer service may return more
    // fields.
    // oxlint-disable-next-line typescript/no-unsafe-return
    return JSON.parse(text);
  } catch {
    throw toError(response.status, undefined, null);
  }
}

async function readText(response: Response): Promise<string> {
  return response.text();
}

async function readBytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

const internal = { 'X-Service-Internal': 'true' };
const job = (jobId: string) => `/jobs/${encodeURIComponent(jobId)}`;
const key = (keyId: string) => `/keys/${encodeURIComponent(keyId)}`;
