import type { VisionModel } from '../core/ports/vision-model.ts';
import { createContactSheets } from '../adapters/media/contact-sheet.ts';
import type { InTurn } from '../adapters/media/ffmpeg/in-turn.ts';
import { createImageDecoder } from '../adapters/media/ffmpeg/decode-image.ts';
import { poolImageDecoders } from '../adapters/media/ffmpeg/image-pool.ts';
import { availableParallelism, totalmem } from 'node:os';
import { fetch as operatorFetch } from 'undici';
import { resizeJpeg } from '../adapters/media/ffmpeg/resize-jpeg.ts';
import { capturedWidthPixels, withPictureWidth } from '../adapters/vision/picture-width.ts';
import { promptVariants } from '../adapters/vision/prompt-variants.ts';
import { createBedrockClient } from '../adapters/vision/bedrock/bedrock-client.ts';
import { createBedrockVision } from '../adapters/vision/bedrock/bedrock-vision.ts';
import { createOpenAiVision } from '../adapters/vision/openai/openai-vision.ts';
import { createObjectsVision } from '../adapters/vision/objects/objects-vision.ts';
import { findNetworkFiles, type NetworkFiles } from '../adapters/vision/objects/packages.ts';
import { shareDetections } from '../adapters/vision/objects/share-detections.ts';
import { createThreadDetector } from '../adapters/vision/objects/thread-detector.ts';
import { createPixelVision } from '../adapters/vision/pixel/pixel-vision.ts';
import { SettingsError } from './settings.ts';
import type { Settings } from './settings.ts';

export type VisionModelDeps = {
  /** Turns of ffmpeg for contact sheets. Default: no limit. */
  inTurn?: InTurn;
  /** Reports how long each image has waited for the decoder or the network of a built-in model, in milliseconds. */
  reportWait?: (resource: 'picture' | 'model', waitedMs: number) => void;
};

/** Creates the model of the settings. Throws `SettingsError` if a required setting is missing. */
export function createVisionModel(
  settings: Settings,
  ffmpegPath: string,
  deps: VisionModelDeps = {},
): VisionModel {
  const vision = createProvider(settings, ffmpegPath, deps);
  const isBuiltIn = vision.provider === 'objects' || vision.provider === 'pixel';
  return isBuiltIn || settings.visionWidth >= capturedWidthPixels
    ? vision
    : withPictureWidth(vision, settings.visionWidth, async (jpeg, widthPixels, signal) =>
        resizeJpeg(jpeg, widthPixels, ffmpegPath, signal),
      );
}

function createProvider(settings: Settings, ffmpegPath: string, deps: VisionModelDeps): VisionModel {
  switch (settings.vision) {
    case 'auto':
      return createBuiltInVision(findNetworkFiles(), ffmpegPath, deps);
    case 'objects': {
      const files = findNetworkFiles();
      if (files === null) throw new SettingsError(packagesMissing);
      return createBuiltInVision(files, ffmpegPath, deps);
    }
    case 'pixel':
      return createBuiltInVision(null, ffmpegPath, deps);
    case 'bedrock':
      return createBedrockVision({
        client: createBedrockClient({}),
        sheets: createContactSheets({ ffmpegPath, ...(deps.inTurn && { inTurn: deps.inTurn }) }),
        prompt: promptVariants[settings.visionPrompt],
        ...(settings.visionModel === '' ? {} : { modelId: settings.visionModel }),
      });
    case 'openai':
      return createOpenAi(settings, ffmpegPath, deps);
  }
}

const packagesMissing =
  'WATCHPOST_VISION: the packages of the object model are not installed; run npm ci without --omit=optional, or set WATCHPOST_VISION=pixel';

/** Creates the object model if its packages are installed, otherwise the pixel model. */
function createBuiltInVision(
  files: NetworkFiles | null,
  ffmpegPath: string,
  { reportWait = () => undefined }: VisionModelDeps,
): VisionModel {
  const decoder = poolImageDecoders({
    ffmpegPath,
    alone: createImageDecoder({ ffmpegPath, prepareAfterMs }),
    reportWait: (waitedMs) => reportWait('picture', waitedMs),
  });
  return files === null
    ? createPixelVision({ decoder })
    : createObjectsVision({
        decoder,
        detector: shareDetections(
          createThreadDetector(files, {
            maxThreads: chooseThreads({ cores: availableParallelism(), memoryBytes: readMemory() }),
            reportWait: (waitedMs) => reportWait('model', waitedMs),
          }),
        ),
      });
}

/** Time after the decoding of a clip at which the process for the next one starts. The network has judged the clip by then. */
const prepareAfterMs = 1_500;

/** Memory below which one thread of the object model is enough: each takes 140 MB. */
const minMemoryOfTwoBytes = 1.5e9;

/** Returns how many images the object model may evaluate concurrently. More threads than two would take the cores of ffmpeg. */
export function chooseThreads({ cores, memoryBytes }: { cores: number; memoryBytes: number }): number {
  return cores >= 2 && memoryBytes >= minMemoryOfTwoBytes ? 2 : 1;
}

/** Returns the memory of the machine, or that of its container. */
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
