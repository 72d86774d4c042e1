import { readFileSync } from 'node:fs';
import { createDeliveryQueue } from '../../../adapters/embedded/delivery-queue.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createWorkflowEngine } from '../../../adapters/embedded/workflow/engine.ts';
import {
  createExecutionStore,
  migrateExecutions,
} from '../../../adapters/embedded/workflow/execution-store.ts';
import type { Collaborators } from '../../../core/collaborators.ts';
import { createMonitor } from '../../../core/operations/create-monitor.ts';
import { deliverEvent } from '../../../core/operations/deliver-event.ts';
import { getJob } from '../../../core/operations/read-jobs.ts';
import { analyzeTask, captureTask } from '../../../core/operations/tasks.ts';
import type { WebhookRequest, WebhookResult } from '../../../core/ports/delivery.ts';
import { createFakeTime } from '../../adapters/embedded/fake-time.ts';
import { start } from '../../contract/records.ts';
import { createWorld, monitorRequest } from '../../support/world.ts';
import { playScript, scriptSeconds, type Script } from './scripted-stream.ts';

const definition: unknown = JSON.parse(
  readFileSync(new URL('../../../workflow/watch.asl.json', import.meta.url), 'utf8'),
);

/**
 * The whole core with the engine, the store and the queue of the embedded service, on a clock that passes as fast as the machine can:
 * one monitor watches a scripted stream for two hours, its alerts go to a receiver that fails now and then.
 */
export async function watchTwoHours(script: Script, config: Record<string, unknown>) {
  const world = createWorld({ maxJobSeconds: scriptSeconds, retentionSeconds: 86_400 });
  const database = openDatabase(':memory:');
  migrateExecutions(database);
  const time = createFakeTime(start);
  const stream = playScript(script, time.now);
  const receiver = createUnreliableReceiver();
  const queue = createDeliveryQueue({ database, now: time.now, setTimer: time.setTimer, log: world.c.log });
  const engine = createWorkflowEngine({
    definition,
    resources: {
      CaptureFunctionArn: (input, signal) => captureTask(input, c, signal),
      AnalyzeFunctionArn: (input, signal) => analyzeTask(input, c, signal),
    },
    store: createExecutionStore(database),
    clock: {
      now: time.now,
      setTimer: (at, run) => time.setTimer(run, at.getTime() - time.now().getTime()),
    },
    random: () => 0.5,
    log: world.c.log,
  });
  const c: Collaborators = {
    ...world.c,
    now: time.now,
    streams: { ...world.c.streams, capture: stream.capture },
    vision: { ...world.c.vision, judge: stream.judge },
    compareMotion: stream.compareMotion,
    executions: engine,
    queue,
    webhooks: { send: async (request) => receiver.take(request) },
  };
  const consumer = queue.consume((message) => deliverEvent(message, c));
  try {
    const request = monitorRequest({ webhook_url: 'https://example.com/hook', ...config });
    const { job_id: jobId } = await createMonitor(request, 'harbour', c);
    // And what is still to be delivered.
    await time.pass(scriptSeconds + 600);
    const { job } = await getJob(jobId, 'harbour', c);
    const events = await c.jobs.events(jobId, 0, 100_000);
    return {
      job,
      events,
      attempts: stream.attempts,
      accepted: receiver.accepted,
      refused: receiver.refused(),
    };
  } finally {
    await consumer.close();
    await engine.close();
    database.close();
    world.close();
  }
}

/** Of every third event it fails the first attempt, of every seventh the first two, with errors of several kinds. */
function createUnreliableReceiver() {
  const attempts = new Map<number, number>();
  /** Sequences in the order in which they were taken. */
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
