import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hono } from 'hono';
import { openDataDirectory } from '../adapters/embedded/data-directory.ts';
import { openDatabase } from '../adapters/embedded/database.ts';
import { createDeliveryQueue } from '../adapters/embedded/delivery-queue.ts';
import { createDeliveryStore } from '../adapters/embedded/delivery-store.ts';
import { createJobStore } from '../adapters/embedded/job-store.ts';
import { createKeyStore } from '../adapters/embedded/key-store.ts';
import { readOrMakeMasterSecret } from '../adapters/embedded/master-secret.ts';
import { createMediaStore } from '../adapters/embedded/media-store.ts';
import { setSystemTimer } from '../adapters/embedded/timer.ts';
import { systemClock } from '../adapters/embedded/workflow/clock.ts';
import { createWorkflowEngine } from '../adapters/embedded/workflow/engine.ts';
import { createExecutionStore, migrateExecutions } from '../adapters/embedded/workflow/execution-store.ts';
import { createApp } from '../adapters/http/app.ts';
import type { HttpCollaborators } from '../adapters/http/app.ts';
import type { AuthEnv } from '../adapters/http/bearer-auth.ts';
import { compareMotion } from '../adapters/media/motion/compare-motion.ts';
import { createWebhookSender } from '../adapters/webhook/webhook-sender.ts';
import { createWebhookSigner } from '../adapters/webhook/webhook-signer.ts';
import type { Log } from '../core/ports/log.ts';
import { analyzeTask, captureTask } from '../core/operations/tasks.ts';
import { deliverEvent } from '../core/operations/deliver-event.ts';
import { limitsOf } from './limits.ts';
import { createMedia } from './media.ts';
import type { Settings } from './settings.ts';
import { startUpkeep } from './upkeep.ts';
import { version } from './version.ts';
import { createVisionModel } from './vision-model.ts';

/** The whole service in one process: the core and its operations, wired to the embedded adapters. */
export type Service = {
  app: Hono<AuthEnv>;
  collaborators: HttpCollaborators;
  /** Goes on with what an earlier process left, and begins to work. */
  start(): Promise<void>;
  /** Takes no further step and waits for what is under way; jobs go on at the next start. */
  close(): Promise<void>;
};

const shutdownSeconds = 5;

const definitionFile = new URL('../workflow/watch.asl.json', import.meta.url);

const now = () => new Date();

export async function openService(
  settings: Settings,
  ffmpegPath: string,
  baseUrl: string,
  log: Log,
): Promise<Service> {
  const directory = await openDataDirectory(settings.dataDir);
  const database = openDatabase(directory.database);
  migrateExecutions(database);
  const { guard, http, streams } = createMedia(settings.allowRanges, ffmpegPath, directory.temporary, now);
  const jobs = createJobStore(database);
  const media = createMediaStore(directory.media);
  const executionStore = createExecutionStore(database);
  const queue = createDeliveryQueue({ database, now, setTimer: setSystemTimer, log });

  const parts = {
    jobs,
    media,
    queue,
    log,
    baseUrl,
    now,
    streams,
    urls: guard,
    vision: createVisionModel(settings, ffmpegPath),
    compareMotion,
    deliveries: createDeliveryStore(database),
    webhooks: createWebhookSender({ http, version, elapsedMs: () => performance.now() }),
    signer: createWebhookSigner({ masterSecret: await readOrMakeMasterSecret(directory.masterSecret) }),
    keys: createKeyStore(database),
    limits: limitsOf(settings),
    newId: () => randomUUID(),
    random: Math.random,
    sha256,
    randomBytes: (length: number) => randomBytes(length),
  };
  const executions = createWorkflowEngine({
    definition: JSON.parse(await readFile(definitionFile, 'utf8')),
    resources: {
      AnalyzeFunctionArn: (input, signal) => analyzeTask(input, collaborators, signal),
      CaptureFunctionArn: (input, signal) => captureTask(input, collaborators, signal),
    },
    store: executionStore,
    clock: systemClock,
    random: Math.random,
    log,
  });
  const collaborators: HttpCollaborators = { ...parts, executions };
  const upkeep = { collaborators, jobs, media, executions, executionStore, log };
  let closers: (() => Promise<void> | void)[] = [];

  return {
    app: createApp(collaborators),
    collaborators,
    start: async () => {
      closers = [
        await startUpkeep(upkeep),
        giveUpAfter(
          shutdownSeconds,
          queue.consume((message) => deliverEvent(message, collaborators)),
        ),
      ];
    },
    close: async () => {
      for (const close of closers) await close();
      await executions.close();
      // Before the connections: an attempt that is cut off here is not recorded as the receiver's failure.
      database.close();
      await http.close();
      directory.release();
    },
  };
}

/** A receiver that hangs does not hold up the end: its message comes again at the next start, with the same id. */
function giveUpAfter(seconds: number, closable: { close(): Promise<void> }): () => Promise<void> {
  return async () => {
    const patience = new AbortController();
    const patient = sleep(seconds * 1000, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([closable.close(), patient]);
    patience.abort();
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
