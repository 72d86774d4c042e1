import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../cli/run-service.ts';
import { readSettings } from '../cli/settings.ts';
import { openTemporaryFolder } from '../cli/temporary-folder.ts';
import { createClient, type JobDetail, type MonitorRequest } from '../client/index.ts';
import { type AlertDelays, eventsSchema, readDelays } from './delays.ts';

type ServiceOptions = { ffmpeg: LocatedFfmpeg; jobs: number; settings?: Record<string, string> };

const measuredTypes = new Set(['progress', 'watch_triggered']);

export type BenchService = Awaited<ReturnType<typeof openService>>;

/** Starts the service in this process with a data folder of its own, and returns what a measurement of its jobs needs. */
export async function openService({ ffmpeg, jobs, settings = {} }: ServiceOptions) {
  const folder = openTemporaryFolder('watchpost-bench-');
  const own = {
    port: '0',
    dataDir: folder.path,
    allowRanges: '127.0.0.0/8',
    allowWebhookRanges: '127.0.0.0/8',
    jobsPerCaller: String(jobs),
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
  const { api_key: apiKey, base_url: baseUrl } = credentials;
  const client = createClient({ apiKey, baseUrl });
  // A refusal is a result of an overload, and is not tried again.
  const once = createClient({ apiKey, baseUrl, attempts: 1 });
  const jobIds: string[] = [];
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
    /** Returns the delays of a job's checks and alerts: capture, comparison, model and commit. */
    readDelays: async (jobId: string): Promise<AlertDelays> => {
      const { events } = await client.listEvents(jobId, { limit: 1000 });
      return readDelays(eventsSchema.parse(events.filter(({ type }) => measuredTypes.has(type))));
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
    /** Returns the checks of each job since its start. */
    countChecks: async (): Promise<number[]> => (await readJobs()).map(({ stats }) => stats.last_check),
    jobIds,
    [Symbol.asyncDispose]: async () => {
      for (const jobId of jobIds) await client.cancelJob(jobId);
      await close();
      folder[Symbol.dispose]();
    },
  };

  async function readJobs(): Promise<JobDetail[]> {
    return Promise.all(jobIds.map((jobId) => client.getJob(jobId)));
  }
}
