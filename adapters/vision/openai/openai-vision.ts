import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { createPictureVision, type PictureVisionSettings } from '../picture-vision.ts';
import { type ChatSettings, createChat } from './chat.ts';

type OpenAiSettings = ChatSettings & Pick<PictureVisionSettings, 'sheets' | 'prompt'>;

/**
 * Creates a vision model on an OpenAI-compatible server (Ollama, llama.cpp, vLLM, OpenAI), with images only.
 * `baseUrl` usually ends in `/v1`. Its calls throw `VisionError`.
 */
export function createOpenAiVision({ sheets, prompt, ...settings }: OpenAiSettings): VisionModel {
  return createPictureVision({
    provider: 'openai',
    model: settings.model,
    chat: createChat(settings),
    sheets,
    prompt,
  });
}
