import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../cli/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { createClient, type MonitorRequest } from '../client/index.ts';
import type { WatchRequest } from '../client/openapi-types.ts';
import { type AlertDelays, eventsSchema, readDelays } from './delays.ts';

type ServiceOptions = {
  ffmpeg: LocatedFfmpeg;
  jobs: number;
  /** False if motion causes no check before its time. Default: true. */
  wakes?: boolean;
  settings?: Record<string, string>;
};

export type BenchService = Awaited<ReturnType<typeof openService>>;

/** Starts the service in this process with a data folder of its own, and returns what a measurement of its jobs needs. */
export async function openService({ ffmpeg, jobs, wakes = true, settings = {} }: ServiceOptions) {
  const folder = openTemporaryFolder('watchpost-bench-');
  const own = {
    port: '0',
    dataDir: folder.path,
    allowRanges: '127.0.0.0/8',
    allowWebhookRanges: '127.0.0.0/8',
    jobsPerCaller: String(jobs),
    watchesPerCaller: String(jobs),
    syncPerMinute: '0',
    logLevel: 'error',
    maxJobSeconds: '3600',
  };
  const logging = { write: (line: string) => console.error(line), humanReadable: false };
  const running = await runService(readSettings({ ...own, ...settings }, {}), ffmpeg, logging);
  const { service, credentials, close } = running;
  if (!wakes) delete service.deps.limits.wakesOnMotion;
  const { api_key: apiKey, base_url: baseUrl } = credentials;
  const monitors = runMonitors(apiKey, baseUrl);
  const watches = runWatches(apiKey, baseUrl);
  return {
    apiKey,
    ...monitors,
    ...watches,
    /** Returns the checks of each monitor and watch since its start. */
    countChecks: async (): Promise<number[]> => [
      ...(await monitors.readJobs()).map(({ stats }) => stats.last_check),
      ...(await watches.readWatches()).map(({ state }) => state.last_check),
    ],
    /** Returns the delays of the checks and alerts of each monitor and watch since a time: capture, comparison, model and commit. */
    readDelays: async (sinceMs = 0): Promise<AlertDelays[]> => {
      const pages = [...(await monitors.listJobEvents()), ...(await watches.listWatchEvents())];
      return pages.map(({ events }) => parseDelays(events, sinceMs));
    },
    /** Returns how late checks are, as in `/metrics`. */
    readPace: () => service.deps.pace.read(),
    [Symbol.asyncDispose]: async () => {
      await monitors.endJobs(monitors.jobIds.length);
      await watches.deleteWatches();
      await close();
      folder[Symbol.dispose]();
    },
  };
}

function runMonitors(apiKey: string, baseUrl: string) {
  const client = createClient({ apiKey, baseUrl });
  // A refusal is a result of an overload, and is not tried again.
  const once = createClient({ apiKey, baseUrl, attempts: 1 });
  const jobIds: string[] = [];
  const readJobs = () => Promise.all(jobIds.map((jobId) => client.getJob(jobId)));
  return {
    /** Starts a monitor whose condition never holds. Throws `WatchpostError` if the service refuses it. */
    startMonitor: async (streamUrl: string, fields: Partial<MonitorRequest> = {}): Promise<void> => {
      const created = await once.startMonitor({
        stream_url: streamUrl,
        condition: 'The picture is entirely black',
        input_mode: 'frames',
        interval_seconds: 10,
        monitor_duration_seconds: 3600,
        ...fields,
      });
      jobIds.push(created.job_id);
    },
    /** Returns the gaps of all monitors with this reason. */
    countGaps: async (reason: string): Promise<number> => {
      const gaps = (await readJobs()).flatMap(({ stats }) => stats.coverage.gaps);
      return gaps.filter((gap) => gap.reason === reason).length;
    },
    /** Ends the first monitors. */
    endJobs: async (count: number): Promise<void> => {
      for (const jobId of jobIds.splice(0, count)) await client.cancelJob(jobId);
    },
    eventUrls: () => jobIds.map((jobId) => `${baseUrl}/jobs/${jobId}/events`),
    listJobEvents: () => Promise.all(jobIds.map((jobId) => client.listEvents(jobId, { limit: 1000 }))),
    readJobs,
    jobIds,
  };
}

function runWatches(apiKey: string, baseUrl: string) {
  const client = createClient({ apiKey, baseUrl });
  const watchIds: string[] = [];
  return {
    /** Starts a watch whose condition never holds. */
    startWatch: async (streamUrl: string, fields: Partial<WatchRequest> = {}): Promise<void> => {
      const created = await client.createWatch({
        name: `Watch ${watchIds.length}`,
        stream_url: streamUrl,
        conditions: [{ condition: 'The picture is entirely black' }],
        interval_seconds: 10,
        ...fields,
      });
      watchIds.push(created.watch_id);
    },
    /** Returns what a watch has seen: checks and calls, and when alerts opened and were told. */
    readWatch: async (index: number) => {
      const id = watchIds[index] ?? '';
      const [{ state }, { alerts }, { total }, { events }] = await Promise.all([
        client.getWatch(id),
        client.listAlerts({ watch_id: id, limit: 100 }),
        client.watchStats(id),
        client.listWatchEvents(id, { limit: 1000 }),
      ]);
      return {
        checks: total.checks,
        modelCalls: total.model_calls,
        coverage: total.coverage,
        shortestSeconds: state.shortest_visit_seconds,
        openedAt: alerts.map((alert) => alert.opened_at),
        toldAt: events.filter(({ type }) => type === 'alert_opened').map(({ timestamp }) => timestamp),
      };
    },
    readWatches: () => Promise.all(watchIds.map((id) => client.getWatch(id))),
    listWatchEvents: () => Promise.all(watchIds.map((id) => client.listWatchEvents(id, { limit: 1000 }))),
    deleteWatches: async (): Promise<void> => {
      for (const id of watchIds) await client.deleteWatch(id);
    },
  };
}

const measuredTypes = new Set(['progress', 'watch_triggered']);

function parseDelays(events: readonly { type: string }[], sinceMs: number): AlertDelays {
  return readDelays(eventsSchema.parse(events.filter(({ type }) => measuredTypes.has(type))), sinceMs);
}
