import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../cli/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { createClient, type JobDetail, type MonitorRequest } from '../client/index.ts';
import type { WatchRequest } from '../client/openapi-types.ts';
import { type AlertDelays, eventsSchema, readDelays } from './delays.ts';

type ServiceOptions = {
  ffmpeg: LocatedFfmpeg;
  jobs: number;
  /** False if motion causes no check before its time. Default: true. */
  wakes?: boolean;
  settings?: Record<string, string>;
};

const measuredTypes = new Set(['progress', 'watch_triggered']);

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
  const { service, credentials, close } = await runService(
    readSettings({ ...own, ...settings }, {}),
    ffmpeg,
    {
      write: (line) => console.error(line),
      humanReadable: false,
    },
  );
  if (!wakes) delete service.deps.limits.wakesOnMotion;
  const { api_key: apiKey, base_url: baseUrl } = credentials;
  const client = createClient({ apiKey, baseUrl });
  // A refusal is a result of an overload, and is not tried again.
  const once = createClient({ apiKey, baseUrl, attempts: 1 });
  const jobIds: string[] = [];
  const watchIds: string[] = [];
  return {
    apiKey,
    client,
    eventUrls: () => jobIds.map((jobId) => `${baseUrl}/jobs/${jobId}/events`),
    /** Starts a monitor whose condition never holds, and returns its id. Throws `WatchpostError` if the service refuses it. */
    startMonitor: async (streamUrl: string, fields: Partial<MonitorRequest> = {}): Promise<string> => {
      const created = await once.startMonitor({
        stream_url: streamUrl,
        condition: 'The picture is entirely black',
        input_mode: 'frames',
        interval_seconds: 10,
        monitor_duration_seconds: 3600,
        ...fields,
      });
      jobIds.push(created.job_id);
      return created.job_id;
    },
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
    /** Returns the delays of a job's checks and alerts: capture, comparison, model and commit. */
    readDelays: async (jobId: string): Promise<AlertDelays> =>
      parseDelays((await client.listEvents(jobId, { limit: 1000 })).events),
    /** Returns the delays of each job and watch since a time. */
    readAllDelays: async (sinceMs: number): Promise<AlertDelays[]> => {
      const pages = await Promise.all([
        ...jobIds.map((jobId) => client.listEvents(jobId, { limit: 1000 })),
        ...watchIds.map((watchId) => client.listWatchEvents(watchId, { limit: 1000 })),
      ]);
      return pages.map(({ events }) => parseDelays(events, sinceMs));
    },
    /** Returns how late checks are, as in `/metrics`. */
    readPace: () => service.deps.pace.read(),
    /** Returns the gaps of all jobs with this reason. */
    countGaps: async (reason: string): Promise<number> => {
      const details = await readJobs();
      return details.flatMap(({ stats }) => stats.coverage.gaps).filter((gap) => gap.reason === reason)
        .length;
    },
    /** Ends the first jobs. */
    endJobs: async (count: number): Promise<void> => {
      for (const jobId of jobIds.splice(0, count)) await client.cancelJob(jobId);
    },
    /** Returns the checks of each job and watch since its start. */
    countChecks: async (): Promise<number[]> => [
      ...(await readJobs()).map(({ stats }) => stats.last_check),
      ...(await Promise.all(watchIds.map((watchId) => client.getWatch(watchId)))).map(
        ({ state }) => state.last_check,
      ),
    ],
    jobIds,
    [Symbol.asyncDispose]: async () => {
      for (const jobId of jobIds) await client.cancelJob(jobId);
      for (const watchId of watchIds) await client.deleteWatch(watchId);
      await close();
      folder[Symbol.dispose]();
    },
  };

  async function readJobs(): Promise<JobDetail[]> {
    return Promise.all(jobIds.map((jobId) => client.getJob(jobId)));
  }
}

function parseDelays(events: readonly { type: string }[], sinceMs?: number): AlertDelays {
  return readDelays(eventsSchema.parse(events.filter(({ type }) => measuredTypes.has(type))), sinceMs);
}
