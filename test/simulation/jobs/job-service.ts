import { randomUUID } from 'node:crypto';
import type { EmbeddedMediaStore } from '../../../adapters/embedded/files/media-store.ts';
import { openDatabase } from '../../../adapters/embedded/sqlite/database.ts';
import type { WebhookRequest, WebhookResult } from '../../../core/ports/delivery.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { isJobEvent } from '../../../core/records/run.ts';
import { getJob } from '../../../core/job/read-jobs.ts';
import type { CompareMotion } from '../../../core/records/motion.ts';
import { start } from '../../contract/records.ts';
import { startProcess } from '../service-process.ts';
import { VirtualTime } from '../virtual-time.ts';
import { digestRequest, monitorRequest } from '../../support/world.ts';
import { playScript, scriptSeconds, type Script } from './scripted-stream.ts';

/** One monitor watches a scripted stream for two hours, its alerts go to a receiver that fails now and then. */
export async function watchTwoHours(script: Script, config: Record<string, unknown>) {
  const time = new VirtualTime(start.getTime());
  const stream = playScript(script, time.now);
  const service = await startVirtualService(time, stream, scriptSeconds);
  try {
    const jobId = await service.startMonitor(config);
    // And what is still to be delivered.
    await time.pass(scriptSeconds + 600);
    return { ...(await service.read(jobId)), attempts: stream.attempts };
  } finally {
    service.close();
  }
}

export type VirtualStream = {
  capture: StreamCapturer['capture'];
  judge: VisionModel['judge'];
  compareMotion: CompareMotion;
};

/** Starts the service of one machine for jobs on one stream, in virtual time. */
export async function startVirtualService(time: VirtualTime, stream: VirtualStream, maxJobSeconds: number) {
  const database = openDatabase(':memory:');
  const receiver = createUnreliableReceiver();
  const owner = { isDead: false };
  const silent = () => undefined;
  let failure: unknown;
  const { deps } = startProcess(
    database,
    owner,
    time,
    {
      streams: {
        probe: async (url) => ({ platform: 'hls', playbackUrl: url }),
        capture: stream.capture,
      },
      vision: {
        provider: 'scripted',
        model: 'scripted',
        supportsVideo: true,
        judge: stream.judge,
        answer: () => Promise.reject(new Error('No question about one frame')),
        summarize: async () => ({
          summary: 'Nothing happened.',
          tokens: { input_tokens: 1, output_tokens: 1 },
        }),
      },
      media: createMedia(),
      webhooks: { send: async (request) => receiver.take(request) },
      runTask: (_, task) => task(),
      random: () => 0.5,
      newId: () => randomUUID(),
      log: { debug: silent, info: silent, warning: silent, error: silent },
      parts: { compareMotion: stream.compareMotion },
      limits: { maxJobSeconds, retentionSeconds: 86_400 },
    },
    (error) => (failure = error),
  );
  await time.pass(0);
  if (failure !== undefined) throw failure;
  const webhook = { webhook_url: 'https://example.com/hook' };
  return {
    c: deps,
    startMonitor: async (config: Record<string, unknown>) =>
      (await createMonitor(monitorRequest({ ...webhook, ...config }), 'harbour', deps)).run_id,
    startDigest: async (config: Record<string, unknown>) =>
      (await createDigest(digestRequest({ ...webhook, ...config }), 'harbour', deps)).run_id,
    read: async (jobId: string) => {
      const { job } = await getJob(jobId, 'harbour', deps);
      const events = (await deps.runs.events(jobId, 0, 100_000, new Date(0))).filter(isJobEvent);
      return { job, events, accepted: receiver.accepted, refused: receiver.refused() };
    },
    /** From now on no write finds room, or each does again. */
    fillDisk: (full: boolean) => database.exec(`PRAGMA query_only = ${full ? 'ON' : 'OFF'}`),
    close: () => {
      owner.isDead = true;
      database.close();
    },
  };
}

function createMedia(): EmbeddedMediaStore {
  const media = new Map<string, Uint8Array>();
  return {
    put: async (key, bytes) => void media.set(key, bytes),
    get: async (key) => media.get(key),
    remove: async (keys) => keys.forEach((key) => media.delete(key)),
    removeOfSource: async () => 0,
    trim: async () => ({ removed: 0, bytes: 0 }),
    sweep: async () => 0,
  };
}

/** Creates a receiver that fails the first attempt of every third event and the first two of every seventh, with several kinds of errors. */
function createUnreliableReceiver() {
  const attempts = new Map<number, number>();
  /** Sequences in the order in which they were accepted: retries after later events. */
  const accepted: number[] = [];
  let refused = 0;
  return { accepted, refused: () => refused, take };

  function take({ body }: WebhookRequest): WebhookResult {
    const { data }: { data: { sequence: number } } = JSON.parse(body);
    const attempt = (attempts.get(data.sequence) ?? 0) + 1;
    attempts.set(data.sequence, attempt);
    const failures = data.sequence % 7 === 0 ? 2 : data.sequence % 3 === 0 ? 1 : 0;
    const answer = { latencyMs: 5, error: null, retryAfter: null };
    if (attempt > failures) {
      accepted.push(data.sequence);
      return { ...answer, status: 204 };
    }
    refused += 1;
    return attempt === 1 ? { ...answer, status: 503 } : { ...answer, status: null, error: 'no answer' };
  }
}
