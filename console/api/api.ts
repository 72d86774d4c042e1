import type { Http } from './http.ts';
import type {
  Advice,
  Alarms,
  Alert,
  AlertList,
  AskResult,
  BacktestRequest,
  BacktestResult,
  Caller,
  CameraList,
  CameraStreams,
  CameraStreamsRequest,
  ChangedWatch,
  DeletedWatch,
  DeliveryPage,
  DigestRequest,
  EventPage,
  InputMode,
  JobDetail,
  JobList,
  JobStatus,
  JobSummary,
  JobType,
  Key,
  KeyList,
  LogLevel,
  Logs,
  CheckRequest,
  Metrics,
  Moment,
  MomentList,
  MomentReviewRequest,
  MomentSearchRequest,
  MomentSearchResult,
  MonitorRequest,
  NewKey,
  Scope,
  Service,
  SignInCode,
  StreamValidation,
  Watch,
  WatchDeliveryPage,
  WatchEventPage,
  WatchList,
  WatchPatch,
  WatchPreview,
  WatchRequest,
  WatchStats,
  WatchTest,
  WebhookSecret,
  WebhookTest,
} from './types.ts';
import { readCheckResult } from './check-result.ts';

/** Filters and page of the job list; `limit` is 1 to 100. */
export type JobQuery = { status?: JobStatus; job_type?: JobType; limit: number; offset: number };

/** Filters and page of the list of alerts; `after` is the `next_after` of the previous page. */
export type AlertQuery = {
  watch_id?: string | undefined;
  condition_id?: string | undefined;
  state?: Alert['state'] | undefined;
  /** Alerts that were open between `from` and `to`. */
  from?: string | undefined;
  to?: string | undefined;
  after?: string | undefined;
  limit: number;
};

/** Filters and page of the moments of a watch. */
type MomentQuery = {
  watch_id: string;
  from: string;
  to: string;
  condition_id?: string;
  verdict?: 'held' | 'not_held' | 'not_judged';
  after?: string | undefined;
  limit: number;
};

/** API client of a session, as `createApi` returns it. */
export type Api = ReturnType<typeof createApi>;

const internal = { 'X-Service-Internal': 'true' };

/** Creates the API client of the console: one function per operation of the public API. Each throws `Problem`. */
export function createApi(http: Http) {
  return {
    http,
    ...accessOperations(http),
    ...checkOperations(http),
    ...jobOperations(http),
    ...watchOperations(http),
    ...alertOperations(http),
    ...memoryOperations(http),
    ...operatorOperations(http),
  };
}

/** Operations of keys, callers and the signing secret. */
function accessOperations(http: Http) {
  return {
    endSession: () => http.send('/session', { method: 'DELETE' }),
    service: () => http.json<Service>('/service'),
    /** Reads all pages: at most 100 valid keys, and those revoked within 30 days. */
    keys: async (caller?: string, signal?: AbortSignal) => {
      const keys: Key[] = [];
      let after: string | undefined;
      do {
        const page: KeyList = await http.json('/keys', { query: { caller, after, limit: 1000 }, signal });
        keys.push(...page.keys);
        after = page.next_after ?? undefined;
      } while (after !== undefined);
      return keys;
    },
    createKey: (request: { label: string | null; scopes: Scope[]; caller?: string }) =>
      http.json<NewKey>('/keys', { method: 'POST', body: request }),
    labelKey: (id: string, label: string | null) =>
      http.json<Key>(`/keys/${id}`, { method: 'PATCH', body: { label } }),
    createSignInCode: (id: string) => http.json<SignInCode>(`/keys/${id}/sign-in-code`, { method: 'POST' }),
    rotateKey: (id: string, graceSeconds: number, descendants: boolean) =>
      http.json<NewKey & { replaces: Key }>(`/keys/${id}/rotate`, {
        method: 'POST',
        query: { grace_seconds: graceSeconds, descendants: String(descendants) },
      }),
    revokeKey: (id: string, descendants: boolean) =>
      http.json<Key>(`/keys/${id}`, { method: 'DELETE', query: { descendants: String(descendants) } }),

    callers: async (signal?: AbortSignal) =>
      (await http.json<{ callers: Caller[] }>('/callers', { query: { limit: 1000 }, signal })).callers,
    addCaller: (caller: string, label: string | null) =>
      http.json<Caller>('/callers', { method: 'POST', body: { caller, label } }),

    webhookSecret: () => http.json<WebhookSecret>('/webhook-secret'),
    rotateWebhookSecret: (graceSeconds: number) =>
      http.json<WebhookSecret>('/webhook-secret/rotate', {
        method: 'POST',
        query: { grace_seconds: graceSeconds },
      }),
    testWebhook: (url: string) =>
      http.json<WebhookTest>('/webhook-test', { method: 'POST', body: { webhook_url: url } }),
  };
}

/** Operations of checks and creations. */
function checkOperations(http: Http) {
  return {
    validateStream: (url: string, signal: AbortSignal, withPicture = false) =>
      http.json<StreamValidation>('/streams/validate', {
        method: 'POST',
        body: { stream_url: url, include_frame: withPicture },
        signal,
      }),
    cameras: (signal: AbortSignal) => http.json<CameraList>('/cameras', { signal }),
    cameraStreams: (request: CameraStreamsRequest) =>
      http.json<CameraStreams>('/cameras/streams', { method: 'POST', body: request }),
    advise: (condition: string, signal: AbortSignal) =>
      http.json<Advice>('/conditions/advise', { method: 'POST', body: { condition }, signal }),
    look: async (request: CheckRequest, signal: AbortSignal) =>
      readCheckResult(await http.send('/check-once', { method: 'POST', body: request, signal })),
    startMonitor: (request: MonitorRequest) =>
      http.json<JobSummary>('/live-monitor', { method: 'POST', body: request }),
    startDigest: (request: DigestRequest) =>
      http.json<JobSummary>('/live-digest', { method: 'POST', body: request }),
  };
}

/** Operations of jobs and their logs. */
function jobOperations(http: Http) {
  return {
    jobs: (query: JobQuery, signal?: AbortSignal) => http.json<JobList>('/jobs', { query, signal }),
    job: (id: string, signal?: AbortSignal) => http.json<JobDetail>(`/jobs/${id}`, { signal }),
    runAgain: (id: string) => http.json<JobSummary>(`/jobs/${id}/run-again`, { method: 'POST' }),
    cancelJob: (id: string) => http.json<{ message: string }>(`/jobs/${id}`, { method: 'DELETE' }),
    events: (id: string, after: number, signal?: AbortSignal) =>
      http.json<EventPage>(`/jobs/${id}/events`, { query: { after, limit: 1000 }, signal }),
    picture: async (path: string, signal?: AbortSignal) => (await http.send(path, { signal })).blob(),
    deliveries: (id: string, after: number, signal?: AbortSignal) =>
      http.json<DeliveryPage>(`/jobs/${id}/deliveries`, { query: { after, limit: 200 }, signal }),
    resend: (id: string, sequence: number) =>
      http.json<{ message: string }>(`/jobs/${id}/deliveries/${sequence}/resend`, { method: 'POST' }),
  };
}

/** Operations of watches and their logs. */
function watchOperations(http: Http) {
  return {
    watches: async (signal?: AbortSignal) => {
      const all: Watch[] = [];
      for (;;) {
        const query = { limit: 100, offset: all.length };
        const { watches, total } = await http.json<WatchList>('/watches', { query, signal });
        all.push(...watches);
        if (watches.length === 0 || all.length >= total) return all;
      }
    },
    /** Creates a watch, with the destinations of another one if it has none of its own. */
    createWatch: (request: WatchRequest, destinationsOf?: string) =>
      http.json<ChangedWatch>('/watches', {
        method: 'POST',
        query: { destinations_of: destinationsOf },
        body: request,
      }),
    watch: (id: string, signal?: AbortSignal) => http.json<Watch>(`/watches/${id}`, { signal }),
    watchDeliveries: (id: string, after: number, signal?: AbortSignal) =>
      http.json<WatchDeliveryPage>(`/watches/${id}/deliveries`, { query: { after, limit: 200 }, signal }),
    resendToDestination: (id: string, sequence: number, destinationId: string) =>
      http.json<{ message: string }>(
        `/watches/${id}/deliveries/${sequence}/${encodeURIComponent(destinationId)}/resend`,
        { method: 'POST' },
      ),
    testWatch: (id: string) => http.json<WatchTest>(`/watches/${id}/test`, { method: 'POST' }),
    /** Changes a watch if its configuration still has the version `version`. */
    changeWatch: (id: string, version: number, patch: WatchPatch) =>
      http.json<ChangedWatch>(`/watches/${id}`, {
        method: 'PATCH',
        headers: { 'If-Match': `"${version}"` },
        body: patch,
      }),
    deleteWatch: (id: string) => http.json<DeletedWatch>(`/watches/${id}`, { method: 'DELETE' }),
    pauseWatch: (id: string) => http.json<Watch>(`/watches/${id}/pause`, { method: 'POST' }),
    resumeWatch: (id: string) => http.json<Watch>(`/watches/${id}/resume`, { method: 'POST' }),
    snoozeWatch: (id: string, seconds: number, conditionId?: string) =>
      http.json<Watch>(`/watches/${id}/snooze`, {
        method: 'POST',
        body: { seconds, ...(conditionId === undefined ? {} : { condition_id: conditionId }) },
      }),
    /** Checks the conditions of a watch once, in its input mode or another. */
    previewWatch: (id: string, signal?: AbortSignal, mode?: InputMode) =>
      http.json<WatchPreview>(`/watches/${id}/preview`, {
        method: 'POST',
        query: { input_mode: mode },
        signal,
      }),
    watchStats: (id: string, query: { from: string; to?: string; spans?: boolean }, signal?: AbortSignal) =>
      http.json<WatchStats>(`/watches/${id}/stats`, {
        query: { ...query, spans: String(query.spans ?? false) },
        signal,
      }),
    watchEvents: (id: string, after: number, signal?: AbortSignal, types?: string) =>
      http.json<WatchEventPage>(`/watches/${id}/events`, { query: { after, limit: 1000, types }, signal }),
  };
}

/** Operations of alerts. */
function alertOperations(http: Http) {
  return {
    alerts: (query: AlertQuery, signal?: AbortSignal) => http.json<AlertList>('/alerts', { query, signal }),
    alert: (id: string, signal?: AbortSignal) => http.json<Alert>(`/alerts/${id}`, { signal }),
    reviewAlert: (id: string, correct: boolean, note: string) =>
      http.json<Alert>(`/alerts/${id}/review`, { method: 'POST', body: { correct, note } }),
    acknowledgeAlert: (id: string) => http.json<Alert>(`/alerts/${id}/acknowledge`, { method: 'POST' }),
  };
}

/** Operations of the memory of watches. */
function memoryOperations(http: Http) {
  return {
    moments: (query: MomentQuery, signal: AbortSignal) =>
      http.json<MomentList>('/moments', { query, signal }),
    searchMoments: (request: MomentSearchRequest, signal: AbortSignal) =>
      http.json<MomentSearchResult>('/moments/search', { method: 'POST', body: request, signal }),
    askMoments: (body: { question: string; to?: string }, signal: AbortSignal) =>
      http.json<AskResult>('/moments/ask', { method: 'POST', body, signal }),
    reviewMoment: (id: string, review: MomentReviewRequest) =>
      http.json<Moment>(`/moments/${id}/review`, { method: 'POST', body: review }),
    backtestWatch: (id: string, request: BacktestRequest, signal: AbortSignal) =>
      http.json<BacktestResult>(`/watches/${id}/backtest`, { method: 'POST', body: request, signal }),
  };
}

/** Operations of operators. */
function operatorOperations(http: Http) {
  return {
    metrics: (signal?: AbortSignal) => http.json<Metrics>('/metrics', { headers: internal, signal }),
    alarms: async (signal?: AbortSignal) =>
      (await http.json<Alarms>('/alarms', { headers: internal, signal })).alarms,
    logs: (level: LogLevel | undefined, signal?: AbortSignal) =>
      http.json<Logs>('/logs', { headers: internal, query: { level, limit: 500 }, signal }),
  };
}
