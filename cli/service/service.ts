import { fileURLToPath } from 'node:url';
import type { Hono } from 'hono';
import { createCallLimiter } from '../../adapters/embedded/callers/call-limiter.ts';
import { consoleFiles } from '../../adapters/embedded/web/console-files.ts';
import { delayRefusals } from '../../adapters/embedded/web/delay-refusals.ts';
import { createUsageLedger } from '../../adapters/embedded/callers/usage.ts';
import { createCallerUsage } from '../../adapters/caller-usage.ts';
import { createLogBuffer, teeLog } from '../../adapters/embedded/log/log.ts';
import { reportLateTimers, watchEventLoop } from '../../adapters/embedded/load/measure-lateness.ts';
import { containCameras } from '../../adapters/embedded/load/contain-exceptions.ts';
import { createCurrentCaller } from '../../adapters/embedded/load/current-caller.ts';
import { createPace } from '../../core/tick/pace.ts';
import { mountReferencePage } from '../../adapters/embedded/web/reference-page.ts';
import { createMachine, createAlertId } from '../../adapters/machine.ts';
import { setSystemTimer, waitAtMost } from '../../core/time-limit.ts';
import { systemClock } from '../../adapters/embedded/scheduler/clock.ts';
import { createRunLog } from '../../adapters/embedded/runs/run-store.ts';
import { createScheduler, listUnfinishedRuns } from '../../adapters/embedded/scheduler/scheduler.ts';
import { isOwnAddress } from '../../adapters/egress/guard.ts';
import { createLookups } from '../../adapters/embedded/names/lookups.ts';
import { createOnvifCameras } from '../../adapters/onvif/cameras.ts';
import { createApp } from '../../adapters/http/app.ts';
import type { HttpDeps } from '../../adapters/http/dependencies.ts';
import type { AuthEnv } from '../../adapters/http/bearer-auth.ts';
import { createRequestBodies } from '../../adapters/http/request-bodies.ts';
import { createContactSheets } from '../../adapters/media/images/contact-sheet.ts';
import { createCutFrame, createDrawBoxes } from '../../adapters/media/images/draw-boxes.ts';
import { createConsoleAddresses } from '../../adapters/embedded/console-addresses.ts';
import { mountMcp } from '../../adapters/mcp/mount-mcp.ts';
import { mountOpenApi } from '../../adapters/openapi/mount-openapi.ts';
import type { LocatedFfmpeg } from '../../adapters/media/ffmpeg/locate-ffmpeg.ts';
import { shareComparisons } from '../../adapters/media/motion/share-comparisons.ts';
import { decodedFramesPerSecond } from '../../adapters/vision/objects/object-moments.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { consoleCaching, consoleSecurityHeaders } from '../../console/security-headers.ts';
import { behindChecks, type AsCaller } from '../../core/ports/callers.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import type { MediaUse, Finding, HealthReader, Log } from '../../core/ports/observability.ts';
import { createSenders, startBrokerPresence } from './senders.ts';
import { startRemoval } from '../../adapters/embedded/sqlite/vacuum.ts';
import { createModelStatus } from '../../core/observability/model-status.ts';
import { redactedLog } from '../../core/observability/redact.ts';
import { analyzeTask, captureTask } from '../../core/workflow/tasks.ts';
import { awaitMotion } from '../../core/workflow/await-motion.ts';
import { createAddressPace } from '../../core/delivery/address-pace.ts';
import { deliverMessage } from '../../core/delivery/deliver.ts';
import { createMakeClip, recordClip } from '../../core/watch/record-clip.ts';
import type { ClipMessage } from '../../core/records/delivery.ts';
import { createWindowSummarizer } from '../../core/policies/digest/summarize-windows.ts';
import { readFreeBytes } from '../checks/checks.ts';
import { createServiceHealth } from '../checks/service-health.ts';
import { createHostRule } from './http-server.ts';
import { createLimits } from './limits.ts';
import { createCaptureScheduler, createTurns } from './capture-scheduler.ts';
import { loadPlatformSettings } from './platforms.ts';
import type { Settings } from '../settings.ts';
import { createMediaTrim, startMaintenance, type MaintenanceDeps } from './maintenance.ts';
import { version } from '../version.ts';
import { findModelPrice } from '../../adapters/vision/aws-provider-registry.ts';
import { createVisionModel } from './vision-model.ts';
import type { InTurn } from '../../adapters/media/ffmpeg/in-turn.ts';
import { openStores, type ServiceStores } from './open-stores.ts';

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

/** Folder that `npm run prepare` writes. */
const consoleFolder = fileURLToPath(new URL('../../console/dist', import.meta.url));

/** Collaborators that are the same for every service. */
const machine = { ...createMachine(wakeUpStepMs), createAlertId, version };
const { now, steadyNow } = machine;

type Address = { baseUrl: string; port: number };
/** `delivers`: false if events wait for a later start. */
type Start = Address & { delivers: boolean };

export async function openService(
  settings: Settings,
  ffmpeg: LocatedFfmpeg,
  address: Start,
  output: Log,
): Promise<Service> {
  const { baseDeps, stores, captures, model, cameras, lookups, closeWebhooks, publishPresence } =
    await createParts(settings, ffmpeg, address, output);
  const { pace, log } = baseDeps;
  const { database, motionReferences } = stores;
  const unfinishedRuns = listUnfinishedRuns(database);
  const executions = createScheduler({
    unfinishedRuns,
    tasks: {
      analyze: (input, signal) => analyzeTask(input, deps, signal),
      capture: (input, signal) => captureTask(input, captureDeps, signal),
      awaitMotion: (input, signal) => awaitMotion(input, captureDeps, signal),
    },
    motionReferences,
    clock: reportLateTimers(
      systemClock,
      () => performance.now(),
      (lateMs) => pace.record('timer', lateMs),
    ),
    random: Math.random,
    log: createRunLog(database, log),
  });
  const deps = { ...baseDeps, executions, summaries: createWindowSummarizer(baseDeps) };
  const makeClip = (message: ClipMessage, caller: string) =>
    deps.asCaller(behindChecks(caller), () =>
      recordClip(message, { ...deps, makeClip: createMakeClip({ ...deps, streams: captures.clipStreams }) }),
    );
  const captureDeps = { ...deps, streams: captures.sharedStreams };
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
      closers.push(
        await startMaintenance(
          createMaintenance(settings, stores, { ...deps, keptStreams: captures.keptStreams }),
        ),
      );
      closers.push(startRemoval({ database, log }));
      if (!address.delivers) return;
      closers.push(
        giveUpAfter(
          shutdownSeconds,
          deps.queue.consume((message, caller) =>
            deps.asCaller(caller, () =>
              deliverMessage(message, { ...deps, recordClip: (clip) => makeClip(clip, caller) }),
            ),
          ),
        ),
        startBrokerPresence({
          unfinishedRuns,
          runs: deps.runs,
          publish: publishPresence,
          setTimer: setSystemTimer,
          log,
        }),
      );
    },
    endStreams: async () => stores.eventSessions.endAll(),
    close: async () => {
      model.close();
      for (const close of closers) await close();
      await executions.close();
      // Closes the database before the connections, so that an interrupted attempt is not recorded as a failure of the
      // receiver.
      database.close();
      await Promise.all([captures.closeSessions(), captures.http.close(), cameras?.close(), closeWebhooks()]);
      lookups.close();
      stores.release();
    },
  };
}

/** Creates all that the operations of the core use, except the scheduler of runs, which uses them. */
async function createParts(settings: Settings, ffmpeg: LocatedFfmpeg, address: Address, output: Log) {
  const platforms = await loadPlatformSettings(settings);
  const recentLog = createLogBuffer({ level: settings.logLevel, now });
  const log = redactedLog(teeLog(output, recentLog));
  const pace = createPace({ steadyNow, log });
  const stores = await openStores(settings, { log, now, steadyNow });
  const turns = createTurns(settings);
  const callers = createCurrentCaller();
  const { asCaller, currentCaller } = callers;
  const lookups = createLookups({ currentCaller });
  const ownService = { port: address.port, publicUrl: settings.publicUrl, isOwnAddress };
  const egress = { allowRanges: settings.allowRanges, own: ownService, lookup: lookups.lookup };
  const captures = createCaptureScheduler({
    egress,
    platforms,
    ffmpegPath: ffmpeg.path,
    tempDir: stores.temporary,
    now,
    steadyNow,
    turns: turns.ticks,
    callers,
    reportWait: pace.record,
    reportUse: pace.recordUse,
    reportFallback: pace.recordFallback,
    maxRtspSessions: settings.rtspSessions,
    sharesDecoders: settings.sharedDecoders === 1,
    clipBytes: settings.clipMb * 1_000_000,
    lateSeconds: () => pace.read().lateSeconds,
  });
  const { inTurn } = captures;
  const limits = createLimits(settings);
  const reportModel = (text: string) => log.info(`Model: ${text}`);
  const model = createModelStatus({
    vision: createVisionModel(settings, ffmpeg.path, {
      inTurn,
      reportWait: pace.record,
      reportUse: pace.recordUse,
      reportModel,
      currentCaller,
      meter: stores.ports.meter,
    }),
    steadyNow,
    timeoutSeconds: limits.visionTimeoutSeconds,
    log,
    setTimer: setSystemTimer,
  });
  const cameras = settings.allowRanges.length === 0 ? undefined : createOnvifCameras({ egress, now });
  const { closeWebhooks, publishPresence, ...senders } = createSenders(settings, stores, address.baseUrl, {
    log,
    now,
    egress,
  });
  const consoleAddresses = createConsoleAddresses(settings.dataDir, log);
  const mediaUse: MediaUse = { bytes: null, max_bytes: null, evidence_removed: 0, evidence_removed_at: null };
  const health = createServiceHealth({
    mediaUse,
    settings,
    ffmpeg,
    port: address.port,
    model,
    pace,
    now,
    ...stores,
    ...stores.ports,
  });
  const baseDeps = {
    ...machine,
    ...stores.ports,
    ...senders,
    ...createPictures(ffmpeg.path, inTurn),
    ...createCallerDeps(settings, stores, { modelPrice: findModelPrice(model.vision), asCaller }, log),
    asCaller,
    addressPace: createAddressPace(now),
    messageFacts: {
      model: model.vision.model,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      consoleAddress: consoleAddresses.read,
    },
    consoleOpened: consoleAddresses.opened,
    ...(cameras !== undefined && { cameras: containCameras(cameras) }),
    eraser: alsoForgets(stores.ports.eraser, async (caller) => {
      captures.keptStreams?.removeCaller(caller);
      await consoleAddresses.forget(caller);
    }),
    log,
    recentLog,
    pace,
    baseUrl: address.baseUrl,
    streams: captures.streams,
    urls: captures.guard,
    vision: meteredVision(model.vision, stores.ports.meter),
    health,
    mediaUse,
    turns: turns.calls,
    limits,
    bodies: createRequestBodies({ setTimer: setSystemTimer }),
  };
  return { baseDeps, stores, captures, model, cameras, lookups, closeWebhooks, publishPresence };
}

/** Creates what works on pictures outside of captures. */
function createPictures(ffmpegPath: string, inTurn: InTurn) {
  return {
    contactSheets: createContactSheets({ ffmpegPath, inTurn }),
    drawBoxes: createDrawBoxes({ ffmpegPath, inTurn }),
    cutFrame: createCutFrame({ ffmpegPath, inTurn, framesPerSecond: decodedFramesPerSecond }),
    compareMotion: shareComparisons(),
  };
}

/** Creates what limits and counts the calls of a caller. */
function createCallerDeps(
  settings: Settings,
  { database }: ServiceStores,
  { modelPrice, asCaller }: { modelPrice: ReturnType<typeof findModelPrice>; asCaller: AsCaller },
  log: Log,
) {
  const reportUncounted = (error: unknown) =>
    log.warning('Use of a caller was not counted', { error: String(error) });
  return {
    modelPrice,
    usage: createCallerUsage({
      ledger: createUsageLedger(database, reportUncounted),
      modelPrice,
      log,
      now,
      asCaller,
    }),
    calls: delayRefusals(
      createCallLimiter({ perMinute: settings.syncPerMinute, atOnce: settings.syncAtOnce, now: steadyNow }),
      { ...refusalDelay, setTimer: setSystemTimer },
    ),
    acceptsHost: createHostRule(settings),
    allowedOrigins: settings.allowedOrigins,
  };
}

function createMaintenance(
  { mediaMb, dataDir }: Settings,
  { storedWatches, storedMoments, motionReferences, ports }: ServiceStores,
  core: MaintenanceDeps['core'] &
    Pick<MaintenanceDeps, 'executions' | 'keptStreams'> & { mediaUse: MediaUse },
): MaintenanceDeps {
  const { deliveries, jobs, keys, media } = ports;
  const { executions, keptStreams, log } = core;
  return {
    keptStreams,
    watchStore: storedWatches,
    moments: storedMoments,
    deliveries,
    core,
    jobs,
    keys,
    media,
    executions,
    motionReferences,
    setTimer: setSystemTimer,
    log,
    trimMedia: createMediaTrim({
      maxMb: mediaMb,
      readFree: async () => readFreeBytes(dataDir),
      media,
      watches: storedWatches,
      moments: storedMoments,
      runs: ports.runs,
      use: core.mediaUse,
      log,
      now,
    }),
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

/**
 * Returns an eraser that also removes what the process keeps of a caller: streams in memory, the address of the
 * console.
 */
function alsoForgets(
  eraser: CoreDeps['eraser'],
  forget: (caller: string) => Promise<void>,
): CoreDeps['eraser'] {
  const removeCaller = async (caller: string) => {
    await eraser.removeCaller(caller);
    await forget(caller);
  };
  return { ...eraser, removeCaller };
}
