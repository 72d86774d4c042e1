import { request } from 'undici';
import { z } from 'zod';
import { CommandError } from '../command-error.ts';
import type { Credentials } from '../credentials.ts';

const createdSchema = z.object({ job_id: z.string() });
const detailSchema = z.object({
  status: z.string(),
  stats: z.looseObject({
    reason: z.string().optional(),
    checks_performed: z.number(),
    frames_skipped: z.number(),
    triggers_fired: z.number(),
  }),
});
const pageSchema = z.object({
  events: z.array(
    z.object({
      type: z.string(),
      timestamp: z.string(),
      data: z.looseObject({
        sequence: z.number(),
        explanation: z.string().optional(),
        prefilter_skipped: z.boolean().optional(),
      }),
    }),
  ),
  next_after: z.number(),
});

/** HTTP client of the demo, which uses the service as a caller does. */
export type DemoApi = ReturnType<typeof createApi>;

/** Creates the client. Its functions throw `CommandError` for any status but 200. */
export function createApi({ base_url: baseUrl, api_key: key }: Credentials) {
  return {
    createMonitor: async (body: object) => createdSchema.parse(await call('POST', '/live-monitor', body)),
    job: async (jobId: string) => detailSchema.parse(await call('GET', `/jobs/${jobId}`)),
    events: async (jobId: string, after: number) =>
      pageSchema.parse(await call('GET', `/jobs/${jobId}/events?after=${after}`)),
  };

  async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const response = await request(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const result: unknown = await response.body.json();
    if (response.statusCode === 200) return result;
    throw new CommandError(
      `${method} ${path} returned status ${response.statusCode}: ${JSON.stringify(result)}`,
      'Report this defect of the demo or the service.',
    );
  }
}
