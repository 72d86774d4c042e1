import { createClient } from '../../client/client.ts';
import { createTransport, type ClientOptions } from '../../client/transport.ts';
import { readCheckResult } from './check-result.ts';
import type { AlertFilter, MomentFilter } from '../../client/watches.ts';
import type {
  CheckRequest,
  InputMode,
  JobStatus,
  JobType,
  Key,
  LogLevel,
  Watch,
  WatchRequest,
} from './types.ts';

/** Filters and page of the job list; `limit` is 1 to 100. */
export type JobQuery = { status?: JobStatus; job_type?: JobType; limit: number; offset: number };

/** Filters and page of the list of alerts; `after` is the `next_after` of the previous page. */
export type AlertQuery = AlertFilter & { limit: number };

type Client = ReturnType<typeof createClient>;

/** API client of a session, as `createApi` returns it. */
export type Api = ReturnType<typeof createApi>;

/** Creates the API client of the console: that of the project, by what its pages call. */
export function createApi(options: ClientOptions) {
  const client = createClient(options);
  const transport = createTransport(options);
  return {
    ...client,
    transport,
    endSession: () => transport.send({ method: 'DELETE', path: '/session', repeatable: false }, ignoreBody),
    look: (body: CheckRequest, signal: AbortSignal) =>
      transport.send(
        { method: 'POST', path: '/check-once', body, repeatable: false, signal },
        readCheckResult,
      ),
    picture: (path: string, signal?: AbortSignal) =>
      transport.send({ method: 'GET', path, repeatable: true, signal }, (response) => response.blob()),
    ...accessOperations(client),
    ...jobOperations(client),
    ...watchOperations(client),
  };
}

async function ignoreBody(): Promise<void> {
  // The session has ended by the status.
}

/** Operations of keys, checks and operators. */
function accessOperations(client: Client) {
  return {
    /** Reads all pages: at most 100 valid keys, and those revoked within 30 days. */
    keys: async (caller?: string, signal?: AbortSignal) => {
      const keys: Key[] = [];
      let after: string | undefined;
      do {
        const page = await client.listKeys({ caller: caller || undefined, after, limit: 1000 }, { signal });
        keys.push(...page.keys);
        after = page.next_after ?? undefined;
      } while (after !== undefined);
      return keys;
    },
    labelKey: (id: string, label: string | null) => client.labelKey(id, { label }),
    rotateKey: (id: string, graceSeconds: number, descendants: boolean) =>
      client.rotateKey(id, { grace_seconds: graceSeconds, descendants }),
    revokeKey: (id: string, descendants: boolean) => client.revokeKey(id, { descendants }),
    callers: async (signal?: AbortSignal) => (await client.listCallers({ limit: 1000 }, { signal })).callers,
    addCaller: (caller: string, label: string | null) => client.addCaller({ caller, label }),
    webhookSecret: () => client.getWebhookSecret(),
    rotateWebhookSecret: (graceSeconds: number) =>
      client.rotateWebhookSecret({ grace_seconds: graceSeconds }),
    testWebhook: (url: string) => client.testWebhook({ webhook_url: url }),
    validateStream: (url: string, signal: AbortSignal, withPicture = false) =>
      client.validateStream({ stream_url: url, include_frame: withPicture }, { signal }),
    cameras: (signal: AbortSignal) => client.listCameras({ signal }),
    advise: (condition: string, signal: AbortSignal) => client.adviseCondition({ condition }, { signal }),
    metrics: (signal?: AbortSignal) => client.metrics({ signal }),
    alarms: async (signal?: AbortSignal) => (await client.alarms({ signal })).alarms,
    logs: (level: LogLevel | undefined, signal?: AbortSignal) =>
      client.logs({ level, limit: 500 }, { signal }),
  };
}

function jobOperations(client: Client) {
  return {
    jobs: (query: JobQuery, signal?: AbortSignal) => client.listJobs(query, { signal }),
    job: (id: string, signal?: AbortSignal) => client.getJob(id, { signal }),
    events: (id: string, after: number, signal?: AbortSignal) =>
      client.listEvents(id, { after, limit: 1000 }, { signal }),
    deliveries: (id: string, after: number, signal?: AbortSignal) =>
      client.listDeliveries(id, { after, limit: 200 }, { signal }),
    resend: (id: string, sequence: number) => client.resendDelivery(id, sequence),
  };
}

function watchOperations(client: Client) {
  return {
    watches: async (signal?: AbortSignal) => {
      const all: Watch[] = [];
      for (;;) {
        const { watches, total } = await client.listWatches({ limit: 100, offset: all.length }, { signal });
        all.push(...watches);
        if (watches.length === 0 || all.length >= total) return all;
      }
    },
    /** Creates a watch, with the destinations of another one if it has none of its own. */
    createWatch: (request: WatchRequest, destinationsOf?: string) =>
      client.createWatch(request, { destinationsOf }),
    watch: (id: string, signal?: AbortSignal) => client.getWatch(id, { signal }),
    watchDeliveries: (id: string, after: number, signal?: AbortSignal) =>
      client.listWatchDeliveries(id, { after, limit: 200 }, { signal }),
    resendToDestination: (id: string, sequence: number, destinationId: string) =>
      client.resendWatchDelivery(id, sequence, destinationId),
    /** Changes a watch if its configuration still has the version `version`. */
    changeWatch: (id: string, version: number, patch: Parameters<Client['changeWatch']>[1]) =>
      client.changeWatch(id, patch, { ifVersion: version }),
    snoozeWatch: (id: string, seconds: number, conditionId?: string) =>
      client.snoozeWatch(id, {
        seconds,
        ...(conditionId === undefined ? {} : { condition_id: conditionId }),
      }),
    /** Checks the conditions of a watch once, in its input mode or another. */
    previewWatch: (id: string, signal?: AbortSignal, mode?: InputMode) =>
      client.previewWatch(id, { signal, input_mode: mode }),
    watchStats: (id: string, query: { from: string; to?: string; spans?: boolean }, signal?: AbortSignal) =>
      client.watchStats(id, query, { signal }),
    watchEvents: (id: string, after: number, signal?: AbortSignal, types?: string) =>
      client.listWatchEvents(id, { after, limit: 1000, types }, { signal }),
    alerts: (query: AlertQuery, signal?: AbortSignal) => client.listAlerts(query, { signal }),
    alert: (id: string, signal?: AbortSignal) => client.getAlert(id, { signal }),
    reviewAlert: (id: string, correct: boolean, note: string) => client.reviewAlert(id, { correct, note }),
    moments: (query: MomentFilter, signal: AbortSignal) => client.listMoments(query, { signal }),
    searchMoments: (request: Parameters<Client['searchMoments']>[0], signal: AbortSignal) =>
      client.searchMoments(request, { signal }),
    askMoments: (request: Parameters<Client['askMoments']>[0], signal: AbortSignal) =>
      client.askMoments(request, { signal }),
    backtestWatch: (id: string, request: Parameters<Client['backtestWatch']>[1], signal: AbortSignal) =>
      client.backtestWatch(id, request, { signal }),
  };
}
