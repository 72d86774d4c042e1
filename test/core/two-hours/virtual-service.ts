import { createDeliveryQueue } from '../../../adapters/embedded/delivery-queue.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createSteadyClock } from '../../../adapters/steady-clock.ts';
import { createCaptureStates } from '../../../adapters/embedded/scheduler/capture-states.ts';
import { createClock } from '../../../adapters/embedded/scheduler/clock.ts';
import { createScheduler } from '../../../adapters/embedded/scheduler/scheduler.ts';
import { listUnfinishedRuns } from '../../../adapters/embedded/scheduler/unfinished-runs.ts';
import { startMaintenance } from '../../../cli/maintenance.ts';
import type { CompareMotion } from '../../../core/records/motion.ts';
import { createDigest } from '../../../core/job/create-digest.ts';
import { createMonitor } from '../../../core/job/create-monitor.ts';
import { deliverEvent } from '../../../core/delivery/deliver-event.ts';
import { getJob } from '../../../core/job/read-jobs.ts';
import type { CoreDeps } from '../../../core/dependencies.ts';
import type { AnalyzeWatchDeps } from '../../../core/workflow/analyze-watch.ts';
import { analyzeTask, captureTask } from '../../../core/workflow/tasks.ts';
import type { WebhookRequest, WebhookResult } from '../../../core/ports/delivery.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { start } from '../../contract/records.ts';
import { createMachineClock, type MachineClock } from '../../support/machine-clock.ts';
import { createWorld, digestRequest, monitorRequest } from '../../support/world.ts';
import { playScript, scriptSeconds, type Script } from './scripted-stream.ts';

/** One monitor watches a scripted stream for two hours, its alerts go to a receiver that fails now and then. */
export async function watchTwoHours(script: Script, config: Record<string, unknown>) {
  const clock = createMachineClock(start);
  const stream = playScript(script, clock.now);
  const service = await startVirtualService(clock, stream, scriptSeconds);
  try {
    const jobId = await service.startMonitor(config);
    // And what is still to be delivered.
    await clock.pass(scriptSeconds + 600);
    return { ...(await service.read(jobId)), attempts: stream.attempts };
  } finally {
    await service.close();
  }
}

export type VirtualStream = {
  capture: StreamCapturer['capture'];
  judge: VisionModel['judge'];
  compareMotion: CompareMotion;
};

/**
 * The whole core with the scheduler, the store, the queue and the upkeep of the embedded service, on a clock that passes as fast as the
 * machine can.
 */
export async function startVirtualService(clock: MachineClock, stream: VirtualStream, maxJobSeconds: number) {
  const world = createWorld({ maxJobSeconds, retentionSeconds: 86_400 });
  const database = openDatabase(':memory:');
  const captureStates = createCaptureStates(database, clock.now);
  const receiver = createUnreliableReceiver();
  const { now, setTimer } = clock;
  const queue = createDeliveryQueue({ database, now: createSteadyClock(clock), setTimer, log: world.c.log });
  const scheduler = createScheduler({
    unfinishedRuns: listUnfinishedRuns(world.database),
    tasks: {
      analyze: (input, signal) => analyzeTask(input, c, signal),
      capture: (input, signal) => captureTask(input, c, signal),
    },
    captureStates,
    clock: createClock(clock),
    random: () => 0.5,
    log: world.c.log,
  });
  const c: CoreDeps & Pick<AnalyzeWatchDeps, 'createAlertId' | 'modelPrice' | 'watchDeliveries'> = {
    ...world.c,
    now,
    streams: { ...world.c.streams, capture: stream.capture },
    vision: { ...world.c.vision, judge: stream.judge },
    compareMotion: stream.compareMotion,
    executions: scheduler,
    queue,
    webhooks: { send: async (request) => receiver.take(request) },
  };
  const stopUpkeep = await startMaintenance({
    core: c,
    jobs: world.jobs,
    keys: { sweep: async () => 0 },
    media: { sweep: async () => 0 },
    watchStore: { sweep: () => 0 },
    watchDeliveries: { sweep: () => 0 },
    executions: scheduler,
    captureStates,
    setTimer,
    log: world.c.log,
  });
  const consumer = queue.consume(async (message) =>
    'job_id' in message ? deliverEvent(message, c) : { kind: 'done' },
  );
  const webhook = { webhook_url: 'https://example.com/hook' };
  return {
    c,
    startMonitor: async (config: Record<string, unknown>) =>
      (await createMonitor(monitorRequest({ ...webhook, ...config }), 'harbour', c)).job_id,
    startDigest: async (config: Record<string, unknown>) =>
      (await createDigest(digestRequest({ ...webhook, ...config }), 'harbour', c)).job_id,
    read: async (jobId: string) => {
      const { job } = await getJob(jobId, 'harbour', c);
      const events = await c.jobs.events(jobId, 0, 100_000);
      return { job, events, accepted: receiver.accepted, refused: receiver.refused() };
    },
    /** From now on no write finds room, or each does again. */
    fillDisk: (full: boolean) => {
      for (const each of [database, world.database]) each.exec(`PRAGMA query_only = ${full ? 'ON' : 'OFF'}`);
    },
    close: async () => {
      await stopUpkeep();
      await consumer.close();
      await scheduler.close();
      database.close();
      world.close();
    },
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
