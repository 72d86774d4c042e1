import { type AnswerSchema, toAnswerSchema, type ModelTask } from '../task.ts';

type BuildRequest = (model: string, task: ModelTask<unknown>, frames: Uint8Array[]) => object;

/**
 * Formats of a request, the strictest first. llama.cpp, Ollama and vLLM enforce the maximum length of a text
 * (github.com/ggml-org/llama.cpp/pull/6555: up to 2,000; github.com/mlc-ai/xgrammar); some hosted services reject a schema that has one, and
 * small servers reject any schema.
 */
export const requestFormats: readonly [BuildRequest, ...BuildRequest[]] = [
  (...of) => schemaRequest(...of, true),
  (...of) => schemaRequest(...of, false),
  plainRequest,
];

/** Builds a request whose response format enforces the schema. */
function schemaRequest(
  model: string,
  task: ModelTask<unknown>,
  frames: Uint8Array[],
  bounded: boolean,
): object {
  const schema = toAnswerSchema(task, { bounded });
  return {
    ...request(model, task, task.text, frames),
    response_format: {
      type: 'json_schema',
      json_schema: { name: task.name, strict: true, schema: { ...schema, additionalProperties: false } },
    },
  };
}

/** Builds a request whose prompt describes the schema. */
function plainRequest(model: string, task: ModelTask<unknown>, frames: Uint8Array[]): object {
  return request(model, task, `${task.text}\n${inWords(toAnswerSchema(task))}`, frames);
}

/**
 * Fields that turn the thinking of a model off: the first for Ollama (github.com/ollama/ollama/issues/14820) and OpenRouter, the second
 * for llama.cpp and vLLM, which pass it to the chat template.
 */
export const withoutThinking = { reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: false } };

function inWords(schema: AnswerSchema): string {
  return `Answer with one JSON object and nothing else, of this JSON schema: ${JSON.stringify(schema)}`;
}

function request(model: string, task: ModelTask<unknown>, text: string, frames: Uint8Array[]): object {
  const pictures = frames.map((frame) => ({
    type: 'image_url',
    image_url: { url: `data:image/jpeg;base64,${Buffer.from(frame).toString('base64')}` },
  }));
  return {
    model,
    messages: [
      { role: 'system', content: task.system },
      { role: 'user', content: [...pictures, { type: 'text', text }] },
    ],
    temperature: 0,
    max_tokens: task.maxTokens,
    stream: false,
  };
}
