import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { answerOf, answerTask, judgeTask, summaryOf, summaryTask, verdictOf } from '../prompt.ts';
import { spreadSamples } from '../spread-samples.ts';
import { type ChatSettings, createChat } from './chat.ts';

/** What most local servers take in one request: llama.cpp and Ollama slow down, and vLLM has a limit of its own. */
const mostPictures = 8;

/**
 * Vision by an OpenAI-compatible server (Ollama, llama.cpp, vLLM, OpenAI itself), which takes pictures only.
 * `baseUrl` ends in `/v1` as a rule. Throws `VisionError`.
 */
export function createOpenAiVision(settings: ChatSettings): VisionModel {
  const chat = createChat(settings);
  return {
    provider: 'openai',
    model: settings.model,
    takesVideo: false,

    async judge({ frame }, condition, signal) {
      const { fields, tokens } = await chat(judgeTask('frame', condition), [frame], signal);
      return verdictOf(fields, tokens);
    },

    async answer(frame, question, signal) {
      const { fields, tokens } = await chat(answerTask(question), [frame], signal);
      return answerOf(fields, tokens);
    },

    async summarize(samples, signal) {
      const chosen = spreadSamples(samples, mostPictures);
      const task = summaryTask(
        chosen.map(({ capturedAt }) => capturedAt),
        samples.length,
      );
      const frames = chosen.map(({ frame }) => frame);
      const { fields, tokens } = await chat(task, frames, signal);
      return summaryOf(fields, tokens);
    },
  };
}
