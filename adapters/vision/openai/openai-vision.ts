import type { ContactSheets } from '../../../core/ports/contact-sheets.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { arrangeSamples } from '../arrange-samples.ts';
import {
  toAnswer,
  answerTask,
  judgeConditionsTask,
  judgeTask,
  toConditionVerdicts,
  toSummary,
  summaryTask,
  toVerdict,
} from '../prompt.ts';
import { type ChatSettings, createChat } from './chat.ts';

/** Maximum images per request. llama.cpp and Ollama slow down with more; vLLM has its own limit. */
const maxImages = 8;

type OpenAiSettings = ChatSettings & {
  /** Contact sheets for windows with more samples than the maximum images. */
  sheets: ContactSheets;
};

/**
 * Creates a vision model on an OpenAI-compatible server (Ollama, llama.cpp, vLLM, OpenAI), with images only.
 * `baseUrl` usually ends in `/v1`. Its calls throw `VisionError`.
 */
export function createOpenAiVision({ sheets, ...settings }: OpenAiSettings): VisionModel {
  const chat = createChat(settings);
  return {
    provider: 'openai',
    model: settings.model,
    supportsVideo: false,

    async judge({ frame, regions }, condition, signal) {
      const { fields, tokens } = await chat(judgeTask('frame', condition, regions), [frame], signal);
      return toVerdict(fields, tokens);
    },

    async judgeConditions({ frame, regions }, questions, signal) {
      const conditions = questions.map(({ condition }) => condition);
      const { fields, tokens } = await chat(
        judgeConditionsTask('frame', conditions, regions),
        [frame],
        signal,
      );
      return toConditionVerdicts(fields, questions, tokens);
    },

    async answer(frame, question, signal) {
      const { fields, tokens } = await chat(answerTask(question), [frame], signal);
      return toAnswer(fields, tokens);
    },

    async summarize(samples, signal) {
      const pictures = await arrangeSamples(samples, maxImages, sheets, signal);
      const task = summaryTask(
        pictures.map(({ times }) => times),
        samples.length,
      );
      const frames = pictures.map(({ jpeg }) => jpeg);
      const { fields, tokens } = await chat(task, frames, signal);
      return toSummary(fields, tokens);
    },
  };
}
