import { follow } from './follow.ts';
import type { FollowOptions } from './follow.ts';
import type * as Api from './openapi-types.ts';
import { errorOf } from './errors.ts';
import { createTransport } from './transport.ts';
import type { Call, ClientOptions } from './transport.ts';

export type Watchpost = ReturnType<typeof createClient>;

type Signal = { signal?: AbortSignal };
/** Replays the answer where this key was used before; left out, each call has its own, so that trying again makes one job. */
type Creation = Signal & { idempotencyKey?: string };

/**
 * The API as functions, one an operation. What the service refuses is thrown as `WatchpostError`, invalid fields as
 * `RequestInvalidError`, a service out of reach as `ConnectionError`; what may pass is tried again first, where that does no harm.
 *
 * @example
 * const watchpost = createClient({ baseUrl: 'https://HOST/api', apiKey });
 * const { job_id } = await watchpost.startMonitor({ stream_url, condition: 'A ship is in the lock' });
 * for await (const event of watchpost.follow(job_id)) console.log(event.type, event.data);
 */
export function createClient(options: ClientOptions) {
  const transport = createTransport(options);

  const ask = <Answer>(call: Call): Promise<Answer> => transport.send(call, jsonOf<Answer>);
  const jpeg = (path: string, { signal }: Signal): Promise<Uint8Array> =>
    transport.send({ method: 'GET', path, repeatable: true, signal }, bytesOf);

  const get = <Answer>(path: string, query: Call['query'], { signal }: Signal) =>
    ask<Answer>({ method: 'GET', path, query: query ?? {}, repeatable: true, signal });
  const post = <Answer>(path: string, body: object | undefined, { signal }: Signal, repeatable: boolean) =>
    ask<Answer>({ method: 'POST', path, ...(body && { body }), repeatable, signal });
  const create = (path: string, body: object, { signal, idempotencyKey }: Creation) =>
    ask<Api.JobSummary>({
      method: 'POST',
      path,
      body,
      headers: { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() },
      repeatable: true,
      signal,
    });

  return {
    /** One look: does the condition hold now? */
    checkOnce: (request: Api.CheckOnceRequest, o: Signal = {}) =>
      post<Api.CheckOnceResponse>('/check-once', request, o, true),
    /** A question about a JPEG, without a stream. */
    analyzeFrame: (request: Api.AnalyzeFrameRequest, o: Signal = {}) =>
      post<Api.AnalyzeFrameResponse>('/analyze-frame', request, o, true),
    validateStream: (request: Api.ValidateStreamRequest, o: Signal = {}) =>
      post<Api.StreamValidation>('/streams/validate', request, o, true),

    startMonitor: (request: Api.MonitorRequest, o: Creation = {}) => create('/live-monitor', request, o),
    startDigest: (request: Api.DigestRequest, o: Creation = {}) => create('/live-digest', request, o),
    /** Newest first. */
    listJobs: (query: JobFilter = {}, o: Signal = {}) => get<Api.JobList>('/jobs', query, o),
    getJob: (jobId: string, o: Signal = {}) => get<Api.JobDetail>(job(jobId), {}, o),
    /** Not tried again: a repeated cancellation is refused as `JOB_ALREADY_STOPPED`. */
    cancelJob: (jobId: string, { signal }: Signal = {}) =>
      ask<Api.CancelledJob>({ method: 'DELETE', path: job(jobId), repeatable: false, signal }),
    /** One page of the log; pictures are links. */
    listEvents: (jobId: string, query: EventFilter = {}, o: Signal = {}) =>
      get<Api.EventPage>(`${job(jobId)}/events`, query, o),
    /** The log as it grows, each event once and in order, until `job_stopped`; goes on by itself where a connection broke. */
    follow: (jobId: string, o: FollowOptions = {}) => follow(jobId, o, transport),
    /** The picture of a `watch_triggered` or `summary_generated` event: JPEG. */
    picture: (jobId: string, sequence: number, o: Signal = {}) => jpeg(`${job(jobId)}/media/${sequence}`, o),
    /** The newest picture that was taken for a job, at its `stats.last_frame_at`: JPEG. */
    frame: (jobId: string, o: Signal = {}) => jpeg(`${job(jobId)}/frame`, o),

    listDeliveries: (jobId: string, query: DeliveryFilter = {}, o: Signal = {}) =>
      get<Api.DeliveryPage>(`${job(jobId)}/deliveries`, query, o),
    resendDelivery: (jobId: string, sequence: number, o: Signal = {}) =>
      post<Api.Resend>(`${job(jobId)}/deliveries/${sequence}/resend`, undefined, o, false),
    testWebhook: (request: Api.WebhookTestRequest, o: Signal = {}) =>
      post<Api.WebhookTest>('/webhook-test', request, o, false),
    getWebhookSecret: (o: Signal = {}) => get<Api.WebhookSecret>('/webhook-secret', {}, o),
    rotateWebhookSecret: (o: Signal = {}) =>
      post<Api.WebhookSecret>('/webhook-secret/rotate', undefined, o, false),

    /** A page, oldest first; the next one begins after its `next_after`. */
    listKeys: (query: KeyFilter = {}, o: Signal = {}) => get<Api.KeyList>('/keys', query, o),
    createKey: (request: Api.KeyRequest, o: Signal = {}) => post<Api.NewKey>('/keys', request, o, false),
    labelKey: (keyId: string, request: Api.KeyLabel, { signal }: Signal = {}) =>
      ask<Api.Key>({ method: 'PATCH', path: key(keyId), body: request, repeatable: true, signal }),
    rotateKey: (keyId: string, { signal, ...query }: Signal & KeyRotation = {}) =>
      ask<Api.RotatedKey>({
        method: 'POST',
        path: `${key(keyId)}/rotate`,
        query,
        repeatable: false,
        signal,
      }),
    /** With `descendants` all keys end too that it made, and those that they made. */
    revokeKey: (keyId: string, { signal, ...query }: Signal & KeyRevocation = {}) =>
      ask<Api.RevokedKey>({ method: 'DELETE', path: key(keyId), query, repeatable: true, signal }),
    listCallers: (query: { after?: string; limit?: number } = {}, o: Signal = {}) =>
      get<Api.CallerList>('/callers', query, o),
    addCaller: (request: Api.CallerRequest, o: Signal = {}) => post<Api.Caller>('/callers', request, o, true),

    /** For keys with the internal scope. */
    metrics: ({ signal }: Signal = {}) =>
      ask<Api.Metrics>({ method: 'GET', path: '/metrics', headers: internal, repeatable: true, signal }),
    /** For keys with the internal scope. `alarms` is null where nothing watches the service from outside. */
    alarms: ({ signal }: Signal = {}) =>
      ask<Api.Alarms>({ method: 'GET', path: '/alarms', headers: internal, repeatable: true, signal }),
    /** For keys with the internal scope. */
    logs: (query: { level?: Api.LogLevel; limit?: number } = {}, { signal }: Signal = {}) =>
      ask<Api.Logs>({ method: 'GET', path: '/logs', query, headers: internal, repeatable: true, signal }),
  };
}

export type JobFilter = { status?: Api.JobStatus; job_type?: Api.JobType; limit?: number; offset?: number };
export type KeyFilter = { caller?: string; after?: string; limit?: number };
export type KeyRevocation = { descendants?: boolean };
export type KeyRotation = KeyRevocation & { grace_seconds?: number };
export type EventFilter = { after?: number; limit?: number };
export type DeliveryFilter = { state?: Api.DeliveryState; after?: number; limit?: number };

async function jsonOf<Answer>(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    // The types are generated from the service's own document: a newer service may answer more, and that must not fail here.
    // oxlint-disable-next-line typescript/no-unsafe-return
    return JSON.parse(text);
  } catch {
    throw errorOf(response.status, undefined, null);
  }
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

const internal = { 'X-Service-Internal': 'true' };
const job = (jobId: string) => `/jobs/${encodeURIComponent(jobId)}`;
const key = (keyId: string) => `/keys/${encodeURIComponent(keyId)}`;
