import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { createPromptedVision, type PromptedVisionSettings } from '../prompted-vision.ts';
import { type ChatSettings, createChat } from './chat.ts';

type OpenAiSettings = ChatSettings & Pick<PromptedVisionSettings, 'sheets' | 'prompt'>;

/**
 * Creates a vision model on an OpenAI-compatible server (Ollama, llama.cpp, vLLM, OpenAI), with images only.
 * `baseUrl` usually ends in `/v1`. Its calls throw `VisionError`.
 */
export function createOpenAiVision({ sheets, prompt, ...settings }: OpenAiSettings): VisionModel {
  return createPromptedVision({
    provider: 'openai',
    model: settings.model,
    ask: createChat(settings),
    sheets,
    prompt,
  });
}
