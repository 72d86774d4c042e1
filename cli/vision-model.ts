import type { VisionModel } from '../core/ports/vision-model.ts';
import { createContactSheets } from '../adapters/media/contact-sheet.ts';
import { createImageDecoder } from '../adapters/media/ffmpeg/decode-image.ts';
import { fetch as operatorFetch } from 'undici';
import { createBedrockClient } from '../adapters/vision/bedrock/bedrock-client.ts';
import { createBedrockVision } from '../adapters/vision/bedrock/bedrock-vision.ts';
import { createOpenAiVision } from '../adapters/vision/openai/openai-vision.ts';
import { createPixelVision } from '../adapters/vision/pixel/pixel-vision.ts';
import { SettingsError } from './settings.ts';
import type { Settings } from './settings.ts';

/** Creates the model of the settings. Throws `SettingsError` if a required setting is missing. */
export function createVisionModel(settings: Settings, ffmpegPath: string): VisionModel {
  switch (settings.vision) {
    case 'pixel':
      return createPixelVision({ decoder: createImageDecoder({ ffmpegPath }) });
    case 'bedrock':
      return createBedrockVision({
        client: createBedrockClient({}),
        sheets: createContactSheets({ ffmpegPath }),
        ...(settings.visionModel === '' ? {} : { modelId: settings.visionModel }),
      });
    case 'openai':
      return createOpenAi(settings, ffmpegPath);
  }
}

function createOpenAi({ openaiUrl, openaiApiKey, visionModel }: Settings, ffmpegPath: string): VisionModel {
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
    sheets: createContactSheets({ ffmpegPath }),
  });
}
