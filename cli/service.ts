import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Hono } from 'hono';
import { createCallerEraser } from '../adapters/embedded/callers/caller-eraser.ts';
import { createCallerStore } from '../adapters/embedded/callers/caller-store.ts';
import { createCallLimiter } from '../adapters/embedded/callers/call-limiter.ts';
import { containDestinations, containWebhooks } from '../adapters/embedded/queue/contain-deliveries.ts';
import { consoleFiles } from '../adapters/embedded/web/console-files.ts';
import { delayRefusals } from '../adapters/embedded/web/delay-refusals.ts';
import { openDataDirectory } from '../adapters/embedded/files/data-directory.ts';
import { openDatabase, verifyDatabase } from '../adapters/embedded/sqlite/database.ts';
import { createDeliveryQueue } from '../adapters/embedded/queue/delivery-queue.ts';
import { createUsageLedger } from '../adapters/embedded/callers/usage-ledger.ts';
import { createCallerUsage } from '../adapters/caller-usage.ts';
import { createDeliveryStore } from '../adapters/embedded/queue/delivery-store.ts';
import { createEventSessions } from '../adapters/embedded/web/event-sessions.ts';
import { createLogSignals } from '../adapters/embedded/log/log-signals.ts';
import { shareLogReads } from '../adapters/embedded/web/share-log-reads.ts';
import { createRunStores } from '../adapters/embedded/runs/stores.ts';
import { createKeyStore } from '../adapters/embedded/callers/key-store.ts';
import { createLogBuffer } from '../adapters/embedded/log/log-buffer.ts';
import { openMasterSecret } from '../adapters/embedded/callers/master-secret.ts';
import { createMediaStore } from '../adapters/embedded/files/media-store.ts';
import { watchEventLoop } from '../adapters/embedded/load/watch-event-loop.ts';
import { reportLateTimers } from '../adapters/embedded/load/late-timers.ts';
import { createPace } from '../core/tick/pace.ts';
import { createMeter } from '../adapters/embedded/callers/meter.ts';
import { createNewestEntry } from '../adapters/embedded/sqlite/newest-entry.ts';
import { teeLog } from '../adapters/embedded/log/tee-log.ts';
import { mountReferencePage } from '../adapters/embedded/web/reference-page.ts';
import { createSteadyClock } from '../adapters/steady-clock.ts';
import { setSystemTimer, waitAtMost } from '../core/time-limit.ts';
import { createMotionReferences } from '../adapters/embedded/scheduler/motion-references.ts';
import { systemClock } from '../adapters/embedded/scheduler/clock.ts';
import { createScheduler } from '../adapters/embedded/scheduler/scheduler.ts';
import { listUnfinishedRuns } from '../adapters/embedded/scheduler/unfinished-runs.ts';
import { createWebhookGuard } from '../adapters/egress/guard.ts';
import { createGuardedHttp } from '../adapters/egress/guarded-http.ts';
import { createApp } from '../adapters/http/app.ts';
import type { HttpDeps } from '../adapters/http/dependencies.ts';
import type { AuthEnv } from '../adapters/http/bearer-auth.ts';
import { createRequestBodies } from '../adapters/http/request-bodies.ts';
import { createContactSheets } from '../adapters/media/contact-sheet.ts';
import { createCutFrame } from '../adapters/media/cut-frame.ts';
import { createDrawBoxes } from '../adapters/media/draw-boxes.ts';
import { mountMcp } from '../adapters/mcp/mount-mcp.ts';
import { mountOpenApi } from '../adapters/openapi/mount-openapi.ts';
import type { LocatedFfmpeg } from '../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { createLinkSigner } from '../adapters/evidence-links.ts';
import { createAlertId } from '../adapters/alert-id.ts';
import { shareComparisons } from '../adapters/media/motion/share-comparisons.ts';
import { decodedFramesPerSecond } from '../adapters/vision/objects/object-moments.ts';
import { meteredVision } from '../adapters/vision/metered-vision.ts';
import { createWebhookSender } from '../adapters/webhook/webhook-sender.ts';
import { createWebhookSigner } from '../adapters/webhook/webhook-signer.ts';
import { consoleCaching, consoleSecurityHeaders } from '../console/security-headers.ts';
import { validVersions } from '../core/records/caller.ts';
import type { CoreDeps } from '../core/dependencies.ts';
import type { Finding, HealthReader } from '../core/ports/health.ts';
import type { Log } from '../core/ports/log.ts';
import { createServiceDestinations } from './destinations.ts';
import { createModelStatus } from '../core/observability/model-status.ts';
import { redactedLog } from '../core/observability/redact.ts';
import { analyzeTask, captureTask } from '../core/workflow/tasks.ts';
import { publishCommits, publishCreations } from '../core/event/publish.ts';
import { deliverMessage } from '../core/delivery/deliver-message.ts';
import { computeStreamPhase } from '../core/stream/stream-phase.ts';
import { createWindowSummarizer } from '../core/policies/digest/summarize-windows.ts';
import { createServiceHealth } from './checks/service-health.ts';
import { createTurns } from './turns.ts';
import { createEventStreams } from './event-streams.ts';
import { createHostRule } from './hosts.ts';
import { createLimits } from './limits.ts';
import { createCaptureScheduler } from './capture-scheduler.ts';
import { loadPlatformSettings } from './platforms.ts';
import type { Settings } from './settings.ts';
import { createMediaTrim } from './media-trim.ts';
import { startMaintenance } from './maintenance.ts';
import { version } from './version.ts';
import { findModelPrice } from '../adapters/vision/providers.ts';
import { createVisionModel } from './vision-model.ts';

/** Service in one process: the core with the embedded adapters. */
export type Service = {
  app: Hono<AuthEnv>;
  deps: CoreDeps & HttpDeps & { health: HealthReader };
  /** Resumes the work of the previous process, starts the consumers, and tests the model in the background. */
  start(): Promise<void>;
  /** Resolves when the model has been tested the first time. */
  modelTested: Promise<Finding>;
  /** Ends all event streams, which otherwise stay open while their jobs run. */
  endStreams(): Promise<void>;
  /** Takes no further step and waits for work in flight; jobs continue at the next start. */
  close(): Promise<void>;
};

/** Delay of refused calls; a client that respects `Retry-After` does not notice it. */
const refusalDelay = { delayMs: 1000, maxDelayed: 200 };
const shutdownSeconds = 5;
/** Precision of wake-ups. */
const wakeUpStepMs = 1;
/** Maximum concurrent deliveries. Each costs a socket, so only a very large number of hanging receivers delays others. */
const deliveriesAtOnce = 1024;

/** Folder that `npm run build` writes. */
const consoleFolder = fileURLToPath(new URL('../console/dist', import.meta.url));

const now = () => new Date();
/** Monotonic clock for measurements within this process, which a clock set back cannot extend. */
const steadyNow = createSteadyClock({ wallMs: Date.now, monotonicMs: () => performance.now() });

export async function openService(
  settings: Settings,
  ffmpeg: LocatedFfmpeg,
  { baseUrl, port }: { baseUrl: string; port: number },
  output: Log,
): Promise<Service> {
  const ffmpegPath = ffmpeg.path;
  const platforms = await loadPlatformSettings(settings);
  const directory = await openDataDirectory(settings.dataDir);
  const database = openDatabase(directory.database);
  verifyDatabase(database);
  const masterSecret = await openMasterSecret(directory.masterSecret, database);
  const webhookUrls = createWebhookGuard(settings.allowWebhookRanges);
  const webhookHttp = createGuardedHttp(webhookUrls);
  const turns = createTurns(settings);
  const recentLog = createLogBuffer({ level: settings.logLevel, now });
  const log = redactedLog(teeLog(output, recentLog));
  const pace = createPace({ steadyNow, log });
  const { guard, http, streams, sharedStreams, inTurn, closeSessions } = createCaptureScheduler({
    allowRanges: settings.allowRanges,
    platforms,
    ffmpegPath,
    tempDir: directory.temporary,
    now,
    steadyNow,
    turns: turns.ticks,
    reportWait: (resource, waitedMs) => pace.record(resource, waitedMs),
    maxRtspSessions: settings.rtspSessions,
    sharesDecoders: settings.sharedDecoders === 1,
  });
  const signals = createLogSignals(setSystemTimer);
  const logReads = shareLogReads(() => runs);
  const stores = createRunStores(database, (runId) => {
    logReads.forget(runId);
    signals.notify(runId);
  });
  const { jobs } = stores;
  const meter = createMeter({ startedAt: now(), jobsBefore: await jobs.usage() });
  const callers = createCallerStore(database);
  const keys = createKeyStore(database);
  const media = createMediaStore(directory.media);
  const motionReferences = createMotionReferences(database, now);
  const eventSessions = createEventSessions(settings.eventStreamsPerCaller);
  const limits = createLimits(settings);
  const model = createModelStatus({
    vision: createVisionModel(settings, ffmpegPath, {
      inTurn,
      reportWait: (resource, waitedMs) => pace.record(resource, waitedMs),
    }),
    steadyNow,
    timeoutSeconds: limits.visionTimeoutSeconds,
    log,
    setTimer: setSystemTimer,
  });
  const queue = createDeliveryQueue({
    database,
    now: steadyNow,
    setTimer: setSystemTimer,
    log,
    concurrency: deliveriesAtOnce,
  });

  const deliveries = createDeliveryStore(database);
  const publishing = { queue, deliveries, log, now };
  const runs = publishCommits(stores.runs, publishing);
  const watches = publishCreations(stores.watches, stores.runs, publishing);
  const webhooks = containWebhooks(
    createWebhookSender({ http: webhookHttp, version, elapsedMs: () => performance.now() }),
    log,
  );
  const signer = createWebhookSigner({
    masterSecret,
    versions: async (caller) => validVersions(await callers.find(caller), now()),
  });
  const modelPrice = findModelPrice(model.vision);
  const reportUncounted = (error: unknown) =>
    log.warning('Use of a caller was not counted', { error: String(error) });
  const baseDeps = {
    runs,
    jobs,
    watches,
    createAlertId,
    modelPrice,
    usage: createCallerUsage({ ledger: createUsageLedger(database, reportUncounted), modelPrice, log, now }),
    media,
    queue,
    callers,
    eraser: createCallerEraser(database),
    meter,
    log,
    recentLog,
    pace,
    baseUrl,
    now,
    steadyNow,
    streams,
    urls: guard,
    webhookUrls,
    vision: meteredVision(model.vision, meter),
    health: createServiceHealth({
      settings,
      ffmpeg,
      port,
      model,
      pace,
      watches,
      newestEntry: createNewestEntry(database),
      now,
    }),
    calls: delayRefusals(
      createCallLimiter({ perMinute: settings.syncPerMinute, atOnce: settings.syncAtOnce, now: steadyNow }),
      { ...refusalDelay, setTimer: setSystemTimer },
    ),
    turns: turns.calls,
    contactSheets: createContactSheets({ ffmpegPath, inTurn }),
    drawBoxes: createDrawBoxes({ ffmpegPath, inTurn }),
    cutFrame: createCutFrame({ ffmpegPath, inTurn, framesPerSecond: decodedFramesPerSecond }),
    compareMotion: shareComparisons(),
    deliveries,
    webhooks,
    signer,
    evidenceLinks: {
      signer: createLinkSigner(async () => masterSecret),
      origin: baseUrl.replace(/\/api$/, ''),
      isPublic: settings.publicUrl !== '',
    },
    destinations: containDestinations(
      createServiceDestinations(settings, { webhooks, signer, now, guard: webhookUrls }),
      log,
    ),
    keys,
    limits,
    acceptsHost: createHostRule(settings),
    version,
    allowedOrigins: settings.allowedOrigins,
    bodies: createRequestBodies({ setTimer: setSystemTimer }),
    eventStreams: createEventStreams(settings, eventSessions, signals, logReads),
    newId: () => randomUUID(),
    random: Math.random,
    streamPhase: (url: string) => computeStreamPhase(url, sha256, wakeUpStepMs),
    sha256,
    randomBytes: (length: number) => randomBytes(length),
  };
  const executions = createScheduler({
    unfinishedRuns: listUnfinishedRuns(database),
    tasks: {
      analyze: (input, signal) => analyzeTask(input, deps, signal),
      capture: (input, signal) => captureTask(input, captureDeps, signal),
    },
    motionReferences,
    clock: reportLateTimers(
      systemClock,
      () => performance.now(),
      (lateMs) => pace.record('timer', lateMs),
    ),
    random: Math.random,
    log,
  });
  const deps = { ...baseDeps, executions, summaries: createWindowSummarizer(baseDeps) };
  const captureDeps = { ...deps, streams: sharedStreams };
  const maintenance = {
    watchStore: stores.watches,
    deliveries,
    core: deps,
    jobs,
    keys,
    media,
    executions,
    motionReferences,
    setTimer: setSystemTimer,
    log,
    ...(settings.mediaMb > 0 && {
      trimMedia: createMediaTrim({ maxMb: settings.mediaMb, media, watches: stores.watches, log, now }),
    }),
  };
  const closers: (() => Promise<void> | void)[] = [];
  const modelTested = Promise.withResolvers<Finding>();

  return {
    app: wholeApp(deps),
    modelTested: modelTested.promise,
    deps,
    start: async () => {
      void model.start().then(modelTested.resolve);
      // Not earlier: the timer of a service that could not be opened would keep its process.
      closers.push(
        watchEventLoop({
          setTimer: setSystemTimer,
          monotonicMs: () => performance.now(),
          report: pace.recordBlock,
        }),
      );
      closers.push(await startMaintenance(maintenance));
      closers.push(
        giveUpAfter(
          shutdownSeconds,
          queue.consume((message) => deliverMessage(message, deps)),
        ),
      );
    },
    endStreams: async () => eventSessions.endAll(),
    close: async () => {
      model.close();
      for (const close of closers) await close();
      await executions.close();
      // Closes the database before the connections, so that an interrupted attempt is not recorded as a failure of the receiver.
      database.close();
      await Promise.all([closeSessions(), http.close(), webhookHttp.close()]);
      directory.release();
    },
  };
}

/** Creates the app with API, MCP, reference page and console on one host. */
function wholeApp(deps: HttpDeps): Hono<AuthEnv> {
  const app = createApp(deps);
  mountOpenApi(app, deps);
  mountMcp(app, deps);
  app.route('/', mountReferencePage());
  app.route(
    '/',
    consoleFiles({ folder: consoleFolder, headers: consoleSecurityHeaders, caching: consoleCaching }),
  );
  return app;
}

/** Closes within a time limit: a message of a hanging receiver is handled at the next start, with the same id. */
function giveUpAfter(seconds: number, closable: { close(): Promise<void> }): () => Promise<void> {
  return () => waitAtMost(seconds * 1000, closable.close(), () => undefined);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
