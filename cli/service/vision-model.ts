import type { Meter } from '../../core/ports/usage.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';
import { createContactSheets } from '../../adapters/media/images/contact-sheet.ts';
import type { ReportUse, ReportWait } from '../../adapters/fair-queue.ts';
import { withoutTurns, type InTurn } from '../../adapters/media/ffmpeg/in-turn.ts';
import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';
import { poolImageDecoders } from '../../adapters/media/ffmpeg/image-pool.ts';
import { availableParallelism, totalmem } from 'node:os';
import { basename, resolve } from 'node:path';
import { fetch as operatorFetch } from 'undici';
import { resizeJpeg } from '../../adapters/media/ffmpeg/resize-jpeg.ts';
import { capturedWidthPixels, withPictureWidth } from '../../adapters/vision/picture-width.ts';
import { promptVariants } from '../../adapters/vision/prompt-variants.ts';
import { createBedrockClient } from '../../adapters/vision/bedrock/bedrock-client.ts';
import { createBedrockVision } from '../../adapters/vision/bedrock/bedrock-vision.ts';
import { createOpenAiVision } from '../../adapters/vision/openai/openai-vision.ts';
import { createGatedVision } from '../../adapters/vision/gate/gated-vision.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { createObjectsVision } from '../../adapters/vision/objects/objects-vision.ts';
import {
  findNetworkFiles,
  installCommand as installPackages,
  type NetworkFiles,
} from '../../adapters/vision/objects/packages.ts';
import { shareDetections } from '../../adapters/vision/objects/share-detections.ts';
import { createThreadDetector } from '../../adapters/vision/objects/thread-detector.ts';
import { createLocalVision } from '../../adapters/vision/local/local-vision.ts';
import {
  inspectModelFiles,
  type ModelFiles,
  findRuntime,
  installCommand,
} from '../../adapters/vision/local/runtime.ts';
import { createModelHost } from '../../adapters/vision/local/model-host.ts';
import { createDecodeTurns } from '../../adapters/embedded/load/limit-decodes.ts';
import { createFairTurns } from '../../adapters/embedded/load/fair-turns.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import { SettingsError, type Settings } from '../settings.ts';

export type VisionModelDeps = {
  /** Counts the calls of a model behind a gate. Default: nobody counts them. */
  meter?: Meter;
  /** Turns of ffmpeg for contact sheets. Default: no limit. */
  inTurn?: InTurn;
  /** Reports how long each image has waited for the decoder or the network of the built-in model, in milliseconds. */
  reportWait?: (resource: 'picture' | 'model', ...wait: Parameters<ReportWait>) => void;
  /** Called with the time for which a caller had the decoder, the network or the local model. */
  reportUse?: ReportUse;
  /** Reports how the process of a local model or the detector of a gate fares, as a sentence. */
  reportModel?: (text: string) => void;
  /** Returns the caller of the current call. Default: all calls are of one caller. */
  currentCaller?: () => string;
};

/** Creates the model of the settings. Throws `SettingsError` if a required setting is missing. */
export function createVisionModel(
  settings: Settings,
  ffmpegPath: string,
  deps: VisionModelDeps = {},
): VisionModel {
  switch (settings.vision) {
    case 'objects+local':
      return createGated('local', settings, ffmpegPath, deps);
    case 'objects+bedrock':
      return createGated('bedrock', settings, ffmpegPath, deps);
    case 'objects+openai':
      return createGated('openai', settings, ffmpegPath, deps);
    default:
      return createScaled({ ...settings, vision: settings.vision }, ffmpegPath, deps);
  }
}

type OneProvider = Settings & { vision: Exclude<Settings['vision'], `objects+${string}`> };

/** Creates a model behind a gate of the object detector. Throws `SettingsError` if its packages are not installed. */
function createGated(
  second: 'local' | 'bedrock' | 'openai',
  settings: Settings,
  ffmpegPath: string,
  deps: VisionModelDeps,
): VisionModel {
  const vision = createScaled({ ...settings, vision: second }, ffmpegPath, deps);
  return createGatedVision({
    decoder: createDecoder(ffmpegPath, deps),
    detector: createDetector(requireFiles(), deps),
    vision: deps.meter === undefined ? vision : meteredVision(vision, deps.meter),
    report: deps.reportModel,
  });
}

function createScaled(settings: OneProvider, ffmpegPath: string, deps: VisionModelDeps): VisionModel {
  const vision = createProvider(settings, ffmpegPath, deps);
  const { inTurn = withoutTurns } = deps;
  return vision.provider === 'objects' || settings.visionWidth >= capturedWidthPixels
    ? vision
    : withPictureWidth(vision, settings.visionWidth, async (jpeg, widthPixels, signal) =>
        inTurn(async () => resizeJpeg(jpeg, widthPixels, ffmpegPath, signal), signal),
      );
}

function createProvider(settings: OneProvider, ffmpegPath: string, deps: VisionModelDeps): VisionModel {
  switch (settings.vision) {
    case 'auto':
    case 'pixel':
      return createBuiltIn(findNetworkFiles(), ffmpegPath, deps);
    case 'objects':
      return createBuiltIn(requireFiles(), ffmpegPath, deps);
    case 'bedrock':
      return createBedrockVision({
        client: createBedrockClient({}),
        sheets: createContactSheets({ ffmpegPath, ...(deps.inTurn && { inTurn: deps.inTurn }) }),
        prompt: promptVariants[settings.visionPrompt],
        ...(settings.visionModel === '' ? {} : { modelId: settings.visionModel }),
      });
    case 'openai':
      return createOpenAi(settings, ffmpegPath, deps);
    case 'local':
      return createLocal(settings, ffmpegPath, deps);
  }
}

/** Returns the files of the object detector. Throws `SettingsError` if its packages are not installed. */
function requireFiles(): NetworkFiles {
  const files = findNetworkFiles();
  if (files !== null) return files;
  throw new SettingsError(
    `WATCHPOST_VISION: the packages of the object detector are not installed; run ${installPackages}, or set WATCHPOST_VISION=auto`,
  );
}

/** Creates the built-in model. Without the files of its detector, it only measures. */
function createBuiltIn(files: NetworkFiles | null, ffmpegPath: string, deps: VisionModelDeps): VisionModel {
  return createObjectsVision({
    decoder: createDecoder(ffmpegPath, deps),
    detector: files && createDetector(files, deps),
  });
}

/** Time that a call waits for its turn at most, in milliseconds: its own limit is shorter. */
const maxTurnMs = 600_000;

function createDecoder(ffmpegPath: string, deps: VisionModelDeps) {
  const { inTurn, reportWait = () => undefined, reportUse, currentCaller } = deps;
  return poolImageDecoders({
    ffmpegPath,
    alone: createImageDecoder({ ffmpegPath, prepareAfterMs, inTurn }),
    currentCaller,
    elapsedMs: () => performance.now(),
    createTurns: () =>
      createDecodeTurns({
        max: 1,
        reserved: 0,
        currentCaller,
        report: (...wait) => reportWait('picture', ...wait),
        reportUse,
        maxWaitMs: maxTurnMs,
        elapsedMs: () => performance.now(),
        setTimer: setSystemTimer,
      }),
  });
}

function createDetector(
  files: NetworkFiles,
  { reportWait = () => undefined, reportUse, currentCaller = () => '' }: VisionModelDeps,
) {
  return shareDetections(
    createThreadDetector(files, {
      maxThreads: chooseThreads({ cores: availableParallelism(), memoryBytes: readMemory() }),
      reportWait: (...wait) => reportWait('model', ...wait),
      reportUse,
      currentCaller,
    }),
  );
}

/**
 * Time after the decoding of a clip at which the process for the next one starts. The network has judged the clip by
 * then.
 */
const prepareAfterMs = 1_500;

/** Memory below which one thread of the object model is enough: each takes 140 MB. */
const minMemoryOfTwoBytes = 1.5e9;

/**
 * Returns how many images the object model may evaluate concurrently. More threads than two would take the cores of
 * ffmpeg.
 */
export function chooseThreads({ cores, memoryBytes }: { cores: number; memoryBytes: number }): number {
  return cores >= 2 && memoryBytes >= minMemoryOfTwoBytes ? 2 : 1;
}

function readMemory(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

function createOpenAi(
  { openaiUrl, openaiApiKey, visionModel, visionPrompt }: Settings,
  ffmpegPath: string,
  { inTurn }: VisionModelDeps,
): VisionModel {
  if (visionModel === '') {
    throw new SettingsError(
      'WATCHPOST_VISION_MODEL: set the name of a vision model of the OpenAI-compatible server, such as llava',
    );
  }
  return createOpenAiVision({
    baseUrl: openaiUrl,
    model: visionModel,
    ...(openaiApiKey === '' ? {} : { apiKey: openaiApiKey }),
    fetch: operatorFetch,
    sheets: createContactSheets({ ffmpegPath, ...(inTurn && { inTurn }) }),
    prompt: promptVariants[visionPrompt],
  });
}

/** Maximum calls that wait. Each holds its pictures. */
const maxWaitingCalls = 256;

/**
 * Creates the model of two files, in a process of its own. Throws `SettingsError` if a file or the runtime is missing.
 */
function createLocal(
  settings: Settings,
  ffmpegPath: string,
  { inTurn, reportWait = () => undefined, reportUse, reportModel, currentCaller }: VisionModelDeps,
): VisionModel {
  const { visionModel, projector, localRuntime } = settings;
  if (visionModel === '' || projector === '')
    throw new SettingsError(
      'WATCHPOST_VISION: a local model needs two files: --model FILE.gguf --projector FILE.gguf (docs/use/models.md#local-model)',
    );
  const runtime = findRuntime(localRuntime);
  if (runtime === undefined)
    throw new SettingsError(
      `WATCHPOST_VISION: the runtime of local models is not installed; run: ${installCommand(localRuntime)}`,
    );
  const files = { model: resolve(visionModel), projector: resolve(projector) };
  const sizeBytes = inspectFiles(files);
  const maxMemoryBytes = settings.localMemoryMb * 1e6 || readMemory() * 0.75;
  if (sizeBytes > maxMemoryBytes)
    throw new SettingsError(
      `WATCHPOST_VISION_MODEL: the files have ${(sizeBytes / 1e9).toFixed(1)} GB, and the model may take ${(maxMemoryBytes / 1e9).toFixed(1)} GB; use a smaller one, or set WATCHPOST_LOCAL_MEMORY_MB`,
    );
  const threads = settings.localThreads || Math.max(1, availableParallelism() - 1);
  const host = createModelHost({
    load: { runtime, ...files, threads, contextTokens: settings.localContext },
    sizeBytes,
    maxMemoryBytes,
    steadyNowMs: () => performance.now(),
    ...(reportModel && { report: reportModel }),
  });
  return createLocalVision({
    host,
    model: basename(visionModel, '.gguf'),
    turns: createFairTurns({
      max: 1,
      maxWaitMs: maxTurnMs,
      maxWaiting: maxWaitingCalls,
      elapsedMs: () => performance.now(),
      setTimer: setSystemTimer,
      reportUse,
    }),
    ...(currentCaller && { currentCaller }),
    reportWait: (...wait) => reportWait('model', ...wait),
    sheets: createContactSheets({ ffmpegPath, ...(inTurn && { inTurn }) }),
    prompt: promptVariants[settings.visionPrompt],
  });
}

function inspectFiles(files: ModelFiles): number {
  try {
    return inspectModelFiles(files);
  } catch (error) {
    throw new SettingsError(
      `WATCHPOST_VISION_MODEL: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
