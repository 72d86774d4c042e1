import { followWatches, type FollowWatchesOptions } from './follow.ts';
import type * as Api from './openapi-types.ts';
import { randomKey, type Call, type Transport } from './transport.ts';

type Signal = { signal?: AbortSignal | undefined };

/** Requests of the client, without the operations. */
export type Requests = {
  get: <Answer>(path: string, query: Call['query'], options: Signal) => Promise<Answer>;
  post: <Answer>(
    path: string,
    body: object | undefined,
    options: Signal,
    repeatable: boolean,
  ) => Promise<Answer>;
  send: <Answer>(call: Call) => Promise<Answer>;
  jpeg: (path: string, options: Signal) => Promise<Uint8Array>;
  transport: Transport;
};

export function watchOperations({ get, post, send, jpeg, transport }: Requests) {
  return {
    /**
     * Creates a watch, which runs until it is paused or deleted. If it has no destinations, it gets those of the watch
     * `destinationsOf`.
     */
    createWatch: (
      request: Api.WatchRequest,
      {
        signal,
        idempotencyKey = randomKey(),
        destinationsOf,
      }: Signal & { idempotencyKey?: string; destinationsOf?: string | undefined } = {},
    ) =>
      send<Api.ChangedWatch>({
        method: 'POST',
        path: '/watches',
        query: { destinations_of: destinationsOf },
        body: request,
        headers: { 'Idempotency-Key': idempotencyKey },
        repeatable: true,
        signal,
      }),
    /** Lists watches, oldest first. */
    listWatches: (query: WatchFilter = {}, o: Signal = {}) => get<Api.WatchList>('/watches', query, o),
    /** Returns configuration and state of a watch. */
    getWatch: (watchId: string, o: Signal = {}) => get<Api.Watch>(watch(watchId), {}, o),
    /**
     * Applies a merge patch. With `ifVersion` it fails with `PRECONDITION_FAILED` if the watch has another
     * `config_version`. Without retries.
     */
    changeWatch: (
      watchId: string,
      patch: Api.WatchPatch,
      { signal, ifVersion }: Signal & { ifVersion?: number } = {},
    ) =>
      send<Api.ChangedWatch>({
        method: 'PATCH',
        path: watch(watchId),
        body: patch,
        ...(ifVersion !== undefined && { headers: { 'If-Match': `"${ifVersion}"` } }),
        repeatable: false,
        signal,
      }),
    /** Deletes a watch and erases its evidence. Without retries: a repeated deletion fails with `WATCH_NOT_FOUND`. */
    deleteWatch: (watchId: string, { signal }: Signal = {}) =>
      send<Api.DeletedWatch>({ method: 'DELETE', path: watch(watchId), repeatable: false, signal }),
    /** Pauses a watch and closes its alerts. */
    pauseWatch: (watchId: string, o: Signal = {}) =>
      post<Api.Watch>(`${watch(watchId)}/pause`, undefined, o, true),
    /** Resumes a paused watch with an immediate check. */
    resumeWatch: (watchId: string, o: Signal = {}) =>
      post<Api.Watch>(`${watch(watchId)}/resume`, undefined, o, true),
    /** Returns one page of deliveries to the destinations of a watch, oldest first. */
    listWatchDeliveries: (watchId: string, query: WatchDeliveryFilter = {}, o: Signal = {}) =>
      get<Api.WatchDeliveryPage>(`${watch(watchId)}/deliveries`, query, o),
    /** Sends an event to a destination again. Without retries. */
    resendWatchDelivery: (watchId: string, sequence: number, destinationId: string, o: Signal = {}) =>
      post<Api.WatchResend>(
        `${watch(watchId)}/deliveries/${sequence}/${encodeURIComponent(destinationId)}/resend`,
        undefined,
        o,
        false,
      ),
    /** Sends a test alert to each destination of a watch. Without retries. */
    testWatch: (watchId: string, o: Signal = {}) =>
      post<Api.WatchTest>(`${watch(watchId)}/test`, undefined, o, false),
    snoozeWatch: (watchId: string, request: Api.SnoozeRequest, o: Signal = {}) =>
      post<Api.Watch>(`${watch(watchId)}/snooze`, request, o, true),
    /** Checks all conditions of a watch once, without a change of their state. */
    previewWatch: (
      watchId: string,
      { signal, ...query }: Signal & { input_mode?: Api.InputMode | undefined } = {},
    ) =>
      send<Api.WatchPreview>({
        method: 'POST',
        path: `${watch(watchId)}/preview`,
        query,
        repeatable: true,
        signal,
      }),
    /** Checks all conditions of a watch that is not created yet. */
    previewNewWatch: (request: Api.WatchRequest, o: Signal = {}) =>
      post<Api.WatchPreview>('/watches/preview', request, o, true),
    /** Returns one page of the log of a watch. */
    listWatchEvents: (watchId: string, query: WatchEventFilter<number> = {}, o: Signal = {}) =>
      get<Api.WatchEventPage>(`${watch(watchId)}/events`, query, o),
    /** Returns one page of the logs of all watches. The next page begins after `next_after`. */
    listAllWatchEvents: (query: WatchEventFilter<string> = {}, o: Signal = {}) =>
      get<Api.AllWatchEventsPage>('/watches/events', query, o),
    /** Yields the events of one watch or all, in order, until the only one is deleted; reconnects automatically. */
    followWatches: (o: FollowWatchesOptions = {}) => followWatches(o, transport),
    /** Returns the statistics of a watch; times as ISO 8601. */
    watchStats: (watchId: string, query: StatsFilter = {}, o: Signal = {}) =>
      get<Api.WatchStats>(`${watch(watchId)}/stats`, query, o),
    watchFrame: (watchId: string, o: Signal = {}) => jpeg(`${watch(watchId)}/frame`, o),
    /** Lists alerts of all watches, newest first. The next page begins after `next_after`. */
    listAlerts: (query: AlertFilter = {}, o: Signal = {}) => get<Api.AlertList>('/alerts', query, o),
    getAlert: (alertId: string, o: Signal = {}) => get<Api.Alert>(alert(alertId), {}, o),
    /** Stores whether an alert was right. */
    reviewAlert: (alertId: string, request: Api.ReviewRequest, o: Signal = {}) =>
      post<Api.Alert>(`${alert(alertId)}/review`, request, o, true),
    /** Acknowledges an alert: it is not repeated. */
    acknowledgeAlert: (alertId: string, o: Signal = {}) =>
      post<Api.Alert>(`${alert(alertId)}/acknowledge`, undefined, o, true),
    /**
     * Searches the memory of watches. `next_cursor` of the answer continues. Without retries: a search costs model
     * calls.
     */
    searchMoments: (request: Api.MomentSearchRequest, o: Signal = {}) =>
      post<Api.MomentSearchResult>('/moments/search', request, o, false),
    /** Answers a question about the memory of watches. Without retries: it costs a model call. */
    askMoments: (request: Api.AskRequest, o: Signal = {}) =>
      post<Api.AskResult>('/moments/ask', request, o, false),
    /**
     * Plays conditions over the memory of a watch. `next_cursor` of the answer continues. Without retries: it costs
     * model calls.
     */
    backtestWatch: (watchId: string, request: Api.BacktestRequest = {}, o: Signal = {}) =>
      post<Api.BacktestResult>(`${watch(watchId)}/backtest`, request, o, false),
    alertFrame: (alertId: string, o: Signal = {}) => jpeg(`${alert(alertId)}/frame`, o),
    /** Returns the film around the opening of an alert as MP4. */
    alertClip: (alertId: string, o: Signal = {}) => jpeg(`${alert(alertId)}/clip`, o),
    /** Lists the judged pictures that watches remember, newest first, with how much of the span was seen. */
    listMoments: (query: MomentFilter = {}, o: Signal = {}) => get<Api.MomentList>('/moments', query, o),
    /** Returns a judged picture with its verdicts. */
    getMoment: (momentId: string, o: Signal = {}) => get<Api.Moment>(moment(momentId), {}, o),
    /** Stores whether a condition holds in the picture of a moment. */
    reviewMoment: (momentId: string, request: Api.MomentReviewRequest, o: Signal = {}) =>
      post<Api.Moment>(`${moment(momentId)}/review`, request, o, true),
    /** Returns the picture of a moment, as JPEG. */
    momentPicture: (momentId: string, o: Signal = {}) => jpeg(`${moment(momentId)}/picture`, o),
  };
}

/** Page of a log of watches. `types`: of its events, separated by commas. */
export type WatchEventFilter<Position> = { after?: Position; limit?: number; types?: string | undefined };

/** Filter and page of `listWatchDeliveries`: deliveries of events after sequence `after`. */
export type WatchDeliveryFilter = {
  destination_id?: string;
  state?: Api.DeliveryState;
  after?: number;
  limit?: number;
};

/** Filters and page of `listWatches`. */
export type WatchFilter = { status?: Api.WatchStatus; label?: string; limit?: number; offset?: number };
/** Filters and page of `listMoments`; times as ISO 8601. */
export type MomentFilter = {
  watch_id?: string;
  from?: string;
  to?: string;
  condition_id?: string;
  verdict?: 'held' | 'not_held' | 'not_judged';
  reviewed?: boolean;
  after?: string | undefined;
  limit?: number;
};
/** Span of `watchStats`; times as ISO 8601. With `spans`, hours have what was seen. */
type StatsFilter = { from?: string; to?: string; spans?: boolean };

/** Filters and page of `listAlerts`; times as ISO 8601. */
export type AlertFilter = {
  watch_id?: string | undefined;
  condition_id?: string | undefined;
  state?: 'open' | 'closed' | undefined;
  /** Alerts that were open between `from` and `to`. */
  from?: string | undefined;
  to?: string | undefined;
  after?: string | undefined;
  limit?: number;
};

const watch = (watchId: string) => `/watches/${encodeURIComponent(watchId)}`;
const alert = (alertId: string) => `/alerts/${encodeURIComponent(alertId)}`;
const moment = (momentId: string) => `/moments/${encodeURIComponent(momentId)}`;
