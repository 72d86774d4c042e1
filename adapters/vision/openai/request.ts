import { type AnswerSchema, toAnswerSchema, type ModelTask } from '../task.ts';

type Text = { type: 'text'; text: string };
type Content = readonly (Text | { type: 'image_url'; image_url: { url: string } })[];
/** Request of a chat completion. The other fields are parameters, which a server may refuse. */
type ChatRequest = {
  model: string;
  messages: readonly [{ role: 'system'; content: string }, { role: 'user'; content: Content }];
  max_tokens: number;
} & Record<string, unknown>;

type BuildRequest = (model: string, task: ModelTask<unknown>, frames: Uint8Array[]) => ChatRequest;

/**
 * Formats of a request, the strictest first. llama.cpp, Ollama and vLLM enforce the maximum length of a text
 * (github.com/ggml-org/llama.cpp/pull/6555: up to 2,000; github.com/mlc-ai/xgrammar); some hosted services reject a
 * schema that has one, and small servers reject any schema.
 */
export const requestFormats: readonly [BuildRequest, ...BuildRequest[]] = [
  (...asked) => schemaRequest(...asked, true),
  (...asked) => schemaRequest(...asked, false),
  plainRequest,
];

/** Builds a request whose response format enforces the schema. */
function schemaRequest(
  model: string,
  task: ModelTask<unknown>,
  frames: Uint8Array[],
  bounded: boolean,
): ChatRequest {
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
function plainRequest(model: string, task: ModelTask<unknown>, frames: Uint8Array[]): ChatRequest {
  return request(model, task, `${task.text}\n${inWords(toAnswerSchema(task))}`, frames);
}

/**
 * Fields that turn the thinking of a model off: the first for Ollama (github.com/ollama/ollama/issues/14820) and
 * OpenRouter, the second for llama.cpp and vLLM, which pass it to the chat template.
 */
export const withoutThinking = { reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: false } };

function inWords(schema: AnswerSchema): string {
  return `Answer with one JSON object and nothing else, of this JSON schema: ${JSON.stringify(schema)}`;
}

function request(model: string, task: ModelTask<unknown>, text: string, frames: Uint8Array[]): ChatRequest {
  const pictures = frames.map((frame) => ({
    type: 'image_url' as const,
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

/** Values of `reasoning_effort`, the lowest first: gpt-5 refuses `none`, the o series `minimal`. */
const efforts = ['none', 'minimal', 'low'];

/**
 * Returns the request without what the server has refused: a parameter is renamed if it has a newer name, then left
 * out.
 */
export function adaptRequest(
  { messages: [system, user], ...parameters }: ChatRequest,
  refusals: readonly string[],
): object {
  const count = (name: string) => refusals.filter((refused) => refused === name).length;
  const adapted = Object.entries(parameters).flatMap(([name, value]): [string, unknown][] => {
    if (count(name) === 0) return [[name, value]];
    if (name === 'max_tokens') return count(newerLimit) === 0 ? [[newerLimit, value]] : [];
    const effort = name === 'reasoning_effort' ? efforts[count(name)] : undefined;
    return effort === undefined ? [] : [[name, effort]];
  });
  const merged = { ...user, content: [{ type: 'text', text: system.content }, ...user.content] };
  return {
    ...Object.fromEntries(adapted),
    messages: count('system') === 0 ? [system, user] : [merged],
  };
}

const newerLimit = 'max_completion_tokens';

/**
 * Returns the parameter of a request that an error refuses by name, or `system` for the role; undefined if it names
 * none. OpenAI and Azure have a field `param`, pydantic (Mistral, vLLM, NIM) a path, Gemini and others a sentence; chat
 * templates without a system role raise their own error.
 */
export function findRefusal(error: string, sent: object): string | undefined {
  const text = error.slice(0, 4_000);
  const isRole = /system role|'system' (?:role|with)|messages\[0\]\.role|only user(?:,| and)/i.test(text);
  if (isRole && JSON.stringify(sent).includes('"role":"system"')) return 'system';
  const [, stated = ''] = /"param"\s*:\s*"(\w+)/.exec(text) ?? [];
  if (['messages', 'model', 'response_format'].includes(stated)) return undefined;
  const names = Object.keys(sent).filter((name) => !['messages', 'model', 'response_format'].includes(name));
  // Gemini translates the effort.
  if (/thinking[ _](?:mode|budget)/i.test(text) && names.includes('reasoning_effort'))
    return 'reasoning_effort';
  const isNamed = (name: string) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text);
  return names.find((name) => name === stated) ?? names.find((name) => name !== 'stream' && isNamed(name));
}
