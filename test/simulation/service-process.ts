import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { createAlertId, createSteadyClock } from '../../adapters/machine.ts';
import { createCallerUsage } from '../../adapters/caller-usage.ts';
import { createDestinations } from '../../adapters/destinations/destination-sender.ts';
import { createCallerEraser, createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { createDeliveryQueue } from '../../adapters/embedded/queue/delivery-queue.ts';
import { createDeliveryStore } from '../../adapters/embedded/queue/delivery-store.ts';
import { createRunStores } from '../../cli/service/open-stores.ts';
import { createKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import type { EmbeddedMediaStore } from '../../adapters/embedded/files/media-store.ts';
import { createUsageLedger } from '../../adapters/embedded/callers/usage.ts';
import { createMotionReferences } from '../../adapters/embedded/scheduler/motion-references.ts';
import { createRunLog } from '../../adapters/embedded/runs/run-store.ts';
import { createScheduler, listUnfinishedRuns } from '../../adapters/embedded/scheduler/scheduler.ts';
import { createLinkSigner, createWebhookSigner } from '../../adapters/signers.ts';
import { startMaintenance } from '../../cli/service/maintenance.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { createAddressPace } from '../../core/delivery/address-pace.ts';
import { deliverMessage } from '../../core/delivery/deliver.ts';
import { publishCommits, publishCreations } from '../../core/delivery/publish.ts';
import { createWindowSummarizer } from '../../core/policies/digest/summarize-windows.ts';
import type { HttpSender } from '../../adapters/destinations/http-sender.ts';
import type { Log } from '../../core/ports/observability.ts';
import { freePace } from '../../core/ports/pace.ts';
import type { RunStore } from '../../core/ports/runs.ts';
import { type ScanningCapturer, unlimitedTurns } from '../../core/ports/stream-capturer.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import type { WatchSettings } from '../../core/policies/watch/policy.ts';
import type { WatchDeps } from '../../core/watch/commit-watch.ts';
import { analyzeTask, captureTask } from '../../core/workflow/tasks.ts';
import { comparePictures } from './camera.ts';
import type { TimerOwner, VirtualTime } from './virtual-time.ts';

// The first signature loads a library, which takes longer than virtual time waits: its attempt would be repeated.
await createWebhookSigner({ masterSecret: Buffer.alloc(32) }).sign('caller', 'msg', new Date(0), '');

/** World outside of the process. */
export type Outside = {
  streams: ScanningCapturer;
  vision: VisionModel;
  media: EmbeddedMediaStore;
  webhooks: HttpSender;
  /** Runs a task of the workflow, so that its commits are known. */
  runTask: <Result>(input: unknown, task: () => Promise<Result>) => Promise<Result>;
  random: () => number;
  newId: () => string;
  log: Log;
  /** Records who commits changes of runs. */
  recordCommits: (runs: RunStore) => RunStore;
  limits?: Partial<CoreDeps['limits']>;
};

export type ServiceProcess = { owner: TimerOwner; deps: WatchDeps & CoreDeps };

/**
 * Composes the service as `cli/service/service.ts` does, on virtual time, and starts it. The start runs in the
 * background.
 */
export function startProcess(
  database: DatabaseSync,
  owner: TimerOwner,
  time: VirtualTime,
  outside: Outside,
  onFailedStart: (error: unknown) => void,
): ServiceProcess {
  const { now } = time;
  const { log, media, random, newId, streams, vision, webhooks } = outside;
  const setTimer = time.createTimers(owner);
  const callers = createCallerStore(database);
  const keys = createKeyStore(database);
  const queue = createDeliveryQueue({ database, now: createSteadyClock(time), setTimer, log });
  const { runs: store, jobs, watches } = createRunStores(database);
  const recorded = outside.recordCommits(store);
  const deliveries = createDeliveryStore(database);
  const publishing = { queue, deliveries, log, now };
  const runs = publishCommits(recorded, publishing);
  const motionReferences = createMotionReferences(database, now);
  const masterSecret = Buffer.alloc(32, 7);
  const signer = createWebhookSigner({ masterSecret });
  const modelPrice = { input: 0.000_06, output: 0.000_24 };
  const base = {
    runs,
    jobs,
    watches: publishCreations(watches, recorded, publishing),
    createAlertId,
    modelPrice,
    usage: createCallerUsage({ ledger: createUsageLedger(database), modelPrice, log, now }),
    media,
    queue,
    callers,
    eraser: createCallerEraser(database),
    meter: { count: async () => undefined },
    log,
    recentLog: { entries: async () => [] },
    pace: freePace,
    baseUrl: 'https://watchpost.test/api',
    now,
    streams,
    urls: { check: () => undefined },
    webhookUrls: { check: () => undefined },
    vision,
    calls: { take: async () => ({ kind: 'granted' as const, end: async () => undefined }) },
    turns: unlimitedTurns,
    contactSheets: { make: async () => new Uint8Array() },
    compareMotion: comparePictures,
    signer,
    deliveries,
    evidenceLinks: {
      signer: createLinkSigner(async () => masterSecret),
      origin: 'https://watchpost.test',
      isPublic: true,
    },
    addressPace: createAddressPace(now),
    messageFacts: { model: 'simulated', timeZone: 'UTC' },
    destinations: createDestinations({ http: webhooks, signer, now }),
    limits: {
      jobsPerCaller: 10,
      watchesPerCaller: 25,
      maxJobSeconds: 600,
      retentionSeconds: 3600,
      modelGraceSeconds: 0,
      captureTimeoutSeconds: 50,
      visionTimeoutSeconds: 90,
      ...outside.limits,
    },
    newId,
    random,
    // Every other camera: its checks are on a grid of its own, to the millisecond.
    streamPhase: (url: string) => (/camera-\d*[13579]\./.test(url) ? 37_250 : null),
    sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
  };
  const executions = createScheduler({
    unfinishedRuns: listUnfinishedRuns(database),
    tasks: {
      analyze: (input, signal) => outside.runTask(input, () => analyzeTask(input, deps, signal)),
      capture: (input, signal) => captureTask(input, deps, signal),
    },
    motionReferences,
    clock: time.schedulerClock(owner),
    random,
    log: createRunLog(database, log),
  });
  // No operation of a watch limits its calls.
  const deps = { ...base, executions, summaries: createWindowSummarizer(base) } as unknown as CoreDeps &
    WatchSettings &
    WatchDeps &
    typeof base;
  const maintenance = {
    core: deps,
    jobs,
    keys,
    media,
    watchStore: watches,
    deliveries,
    executions,
    motionReferences,
  };
  startMaintenance({ ...maintenance, setTimer, log })
    .then(() => void queue.consume((message) => deliverMessage(message, deps)))
    .catch(onFailedStart);
  return { owner, deps };
}
