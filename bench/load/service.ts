import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { runService } from '../../cli/run-service.ts';
import { readSettings } from '../../cli/settings.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

type ServiceOptions = { ffmpeg: LocatedFfmpeg; jobs: number; settings?: Record<string, string> };

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
  const { credentials, close } = await runService(readSettings({ ...own, ...settings }, {}), ffmpeg, {
    write: (line) => console.error(line),
    humanReadable: false,
  });
  const jobIds: string[] = [];
  return {
    apiKey: credentials.api_key,
    eventUrls: () => jobIds.map((jobId) => `${credentials.base_url}/jobs/${jobId}/events`),
    /** Starts a monitor whose condition never holds, and returns its id. */
    startMonitor: async (streamUrl: string, fields: Record<string, unknown> = {}): Promise<string> => {
      const created = await call('POST', '/live-monitor', {
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
    /** Returns the checks of each job since its start. */
    countChecks: async (): Promise<number[]> => {
      const details = await Promise.all(jobIds.map((jobId) => call('GET', `/jobs/${jobId}`)));
      return details.map(({ stats }) => stats.last_check);
    },
    /** Returns the delays of all commits after their planned time, sorted: capture, comparison, model and commit. */
    readDelays: async (): Promise<number[]> =>
      (await Promise.all(jobIds.map(listDelays))).flat().toSorted((a, b) => a - b),
    [Symbol.asyncDispose]: async () => {
      for (const jobId of jobIds) await call('DELETE', `/jobs/${jobId}`);
      await close();
      folder[Symbol.dispose]();
    },
  };

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

export function quantile(sorted: number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}
