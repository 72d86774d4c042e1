import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../cli/service/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { createClient, type MonitorRequest } from '../client/index.ts';
import type { WatchRequest } from '../client/openapi-types.ts';

type ServiceOptions = {
  ffmpeg: LocatedFfmpeg;
  jobs: number;
  eventStreams?: number;
  /** False if motion causes no check before its time. Default: true. */
  wakes?: boolean;
};

const neverHolds = 'The picture is entirely black';

export type BenchService = Awaited<ReturnType<typeof openService>>;

/**
 * Starts the service in this process with a data folder of its own, and returns what a measurement of its jobs needs.
 */
export async function openService({ ffmpeg, jobs, eventStreams = 10, wakes = true }: ServiceOptions) {
  const folder = openTemporaryFolder('watchpost-bench-');
  const settings = {
    vision: 'objects',
    port: '0',
    dataDir: folder.path,
    allowRanges: '127.0.0.0/8',
    jobsPerCaller: String(jobs),
    watchesPerCaller: String(jobs),
    eventStreamsPerCaller: String(eventStreams),
    syncPerMinute: '0',
    logLevel: 'error',
    maxJobSeconds: '3600',
  };
  const logging = { write: (line: string) => console.error(line), humanReadable: false };
  const { service, credentials, close } = await runService(readSettings(settings, {}), ffmpeg, logging);
  if (!wakes) delete service.deps.limits.wakesOnMotion;
  const { api_key: apiKey, base_url: baseUrl } = credentials;
  // A refusal is a result of an overload, and is not tried again.
  const client = createClient({ apiKey, baseUrl, attempts: 1 });
  const jobIds: string[] = [];
  const watchIds: string[] = [];
  const readJobs = () => Promise.all(jobIds.map((id) => client.getJob(id)));
  /** Ends the first monitors. */
  const endJobs = async (count: number): Promise<void> => {
    for (const id of jobIds.splice(0, count)) await client.cancelJob(id);
  };
  return {
    apiKey,
    baseUrl,
    dataDir: folder.path,
    jobIds,
    watchIds,
    pauseWatches: () => Promise.all(watchIds.map((id) => client.pauseWatch(id))),
    endJobs,
    /** Starts a monitor whose condition never holds. Throws `WatchpostError` if the service refuses it. */
    startMonitor: async (streamUrl: string, fields: Partial<MonitorRequest> = {}): Promise<void> => {
      const { job_id: id } = await client.startMonitor({
        stream_url: streamUrl,
        condition: neverHolds,
        input_mode: 'frames',
        interval_seconds: 10,
        monitor_duration_seconds: 3600,
        ...fields,
      });
      jobIds.push(id);
    },
    /** Starts a watch whose condition never holds. */
    startWatch: async (streamUrl: string, fields: Partial<WatchRequest> = {}): Promise<void> => {
      const { watch_id: id } = await client.createWatch({
        name: `Watch ${watchIds.length}`,
        stream_url: streamUrl,
        conditions: [{ condition: neverHolds }],
        interval_seconds: 10,
        ...fields,
      });
      watchIds.push(id);
    },
    /** Gives a watch a condition that holds at its next check. */
    openAlert: async (index: number): Promise<void> => {
      const conditions = [
        { condition: 'Something red is in the picture', checks_to_open: 1, checks_considered: 1 },
      ];
      await client.changeWatch(watchIds[index] ?? '', { conditions });
    },
    /** Counts alerts, those of them with a clip, and those without one for a reason. */
    countClips: async () => {
      const lists = await Promise.all(watchIds.map((watch_id) => client.listAlerts({ watch_id })));
      const alerts = lists.flatMap((list) => list.alerts);
      const clips = alerts.flatMap(({ clip }) => clip ?? []);
      const withClip = clips.filter(({ clip_url: url }) => url !== null).length;
      return { alerts: alerts.length, clips: withClip, 'without one': clips.length - withClip };
    },
    readWatch: (index: number) => readWatch(client, watchIds[index] ?? ''),
    /** Returns the checks of each monitor and watch since its start. */
    countChecks: async (): Promise<number[]> => {
      const watches = await Promise.all(watchIds.map((id) => client.getWatch(id)));
      return [
        ...(await readJobs()).map(({ stats }) => stats.last_check),
        ...watches.map(({ state }) => state.last_check),
      ];
    },
    /**
     * Returns the delays of the checks and alerts of each monitor and watch since a time: capture, comparison, model
     * and commit.
     */
    readDelays: async (sinceMs = 0): Promise<AlertDelays[]> => {
      const pages = await Promise.all([
        ...jobIds.map((id) => client.listEvents(id, { limit: 1000 })),
        ...watchIds.map((id) => client.listWatchEvents(id, { limit: 1000 })),
      ]);
      return pages.map(({ events }) => readDelays(events, sinceMs));
    },
    /** Returns the number of gaps of all monitors that the service caused. */
    countOwnGaps: async (): Promise<number> =>
      (await readJobs())
        .flatMap(({ stats }) => stats.coverage.gaps)
        .filter(({ reason }) => reason === 'service').length,
    eventUrls: () => jobIds.map((id) => `${baseUrl}/jobs/${id}/events`),
    /** Returns how late checks are, as in `/metrics`. */
    readPace: () => service.deps.pace.read(),
    [Symbol.asyncDispose]: async () => {
      await endJobs(jobIds.length);
      for (const id of watchIds) await client.deleteWatch(id);
      await close();
      folder[Symbol.dispose]();
    },
  };
}

/** Returns what a watch has seen: checks and calls, when alerts opened and were told, and the begins of their clips. */
async function readWatch(client: ReturnType<typeof createClient>, id: string) {
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
    clips: await Promise.all(
      alerts.map(async ({ alert_id: id, opened_at: openedAt, clip }) => ({
        openedAt,
        reason: clip ? clip.reason : 'not made yet',
        film: clip?.clip_url ? await client.alertClip(id) : null,
      })),
    ),
    toldAt: events.filter(({ type }) => type === 'alert_opened').map(({ timestamp }) => timestamp),
  };
}

/** Delays of a run, in milliseconds. */
type AlertDelays = {
  /** From the planned time of a check to its commit, for all checks. */
  checksMs: number[];
  /** The same, for the checks that alert. */
  alertsMs: number[];
  /** Checks before their planned time: motion woke the watch. They have no delay. */
  woken: number;
};

type LoggedEvent = { type: string; timestamp: string; data: object };

/**
 * Returns the delays of all checks since a time with a known planned time, from the log of a run: that of the first one
 * is not in it.
 */
export function readDelays(log: readonly LoggedEvent[], sinceMs = 0): AlertDelays {
  const delays: AlertDelays = { checksMs: [], alertsMs: [], woken: 0 };
  let plannedAt: string | null = null;
  let lastMs: number | null = null;
  for (const { type, timestamp, data } of log) {
    // The `progress` event of a check precedes its alert.
    if (type === 'watch_triggered' && lastMs !== null) delays.alertsMs.push(lastMs);
    if (type !== 'progress') continue;
    const atMs = Date.parse(timestamp);
    lastMs = plannedAt === null || atMs < sinceMs ? null : atMs - Date.parse(plannedAt);
    plannedAt = (data as { next_check_at: string | null }).next_check_at;
    if (lastMs === null) continue;
    if (lastMs < 0) delays.woken += 1;
    else delays.checksMs.push(lastMs);
  }
  return delays;
}
