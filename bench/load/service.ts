import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../../cli/run-service.ts';
import { readSettings } from '../../cli/settings.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

type ServiceOptions = { ffmpeg: LocatedFfmpeg; jobs: number; settings?: Record<string, string> };

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
  const jobIds: string[] = [];
  return {
    apiKey: credentials.api_key,
    eventUrls: () => jobIds.map((jobId) => `${credentials.base_url}/jobs/${jobId}/events`),
    /** Starts a monitor whose condition never holds, and returns its id. Throws if the service refuses it. */
    startMonitor: async (streamUrl: string, fields: Record<string, unknown> = {}): Promise<string> => {
      const created = await callOrThrow('POST', '/live-monitor', {
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
    readEvents,
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
      for (const jobId of jobIds.splice(0, count)) await call('DELETE', `/jobs/${jobId}`);
    },
    /** Returns the checks of each job since its start. */
    countChecks: async (): Promise<number[]> => (await readJobs()).map(({ stats }) => stats.last_check),
    /** Returns the delays of all commits after their planned time, sorted: capture, comparison, model and commit. */
    readDelays: async (): Promise<number[]> =>
      (await Promise.all(jobIds.map(listDelays))).flat().toSorted((a, b) => a - b),
    [Symbol.asyncDispose]: async () => {
      for (const jobId of jobIds) await call('DELETE', `/jobs/${jobId}`);
      await close();
      folder[Symbol.dispose]();
    },
  };

  async function readJobs(): Promise<{ stats: any }[]> {
    return Promise.all(jobIds.map((jobId) => call('GET', `/jobs/${jobId}`)));
  }

  async function callOrThrow(method: string, path: string, body: unknown): Promise<any> {
    const response = await call(method, path, body);
    if (response.job_id === undefined)
      throw new RefusedError(response.error?.code ?? '', JSON.stringify(response));
    return response;
  }

  async function listDelays(jobId: string): Promise<number[]> {
    const progress = (await readEvents(jobId)).filter(({ type }) => type === 'progress');
    return progress
      .slice(1)
      .map(({ timestamp }, index) => Date.parse(timestamp) - Date.parse(progress[index]?.data.next_check_at));
  }

  async function readEvents(jobId: string): Promise<{ type: string; timestamp: string; data: any }[]> {
    return (await call('GET', `/jobs/${jobId}/events?limit=1000`)).events;
  }

  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const send = () =>
      fetch(`${credentials.base_url}${path}`, {
        method,
        headers: { authorization: `Bearer ${credentials.api_key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    // The service closes idle connections, possibly while a request is on its way.
    const response = await send().catch((error: unknown) => {
      if (method === 'POST') throw error;
      return send();
    });
    return response.json();
  }
}

/** Job that the service did not accept. */
export class RefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function quantile(sorted: number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}
