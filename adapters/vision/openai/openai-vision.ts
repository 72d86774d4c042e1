import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { createPromptedVision, type PromptedVisionSettings } from '../prompted-vision.ts';
import { z } from 'zod';
import { VisionError } from '../../../core/vision-errors.ts';
import type { TokenUse } from '../../../core/records/vision.ts';
import {
  type AnswerEnd,
  type AskModel,
  ContextError,
  type ModelTask,
  PictureCountError,
  readAnswer,
  toAnswerSchema,
  withTokens,
} from '../task.ts';
import { withoutThoughts } from '../extract-json.ts';
import { adaptRequest, findRefusal, requestFormats, withoutThinking } from './request.ts';
import {
  type FetchLike,
  lacksCredit,
  type RetryOptions,
  postWithRetry,
  type Reply,
} from './post-with-retry.ts';
import { parseJson } from '../../../core/parse-json.ts';

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

/** Connection to an OpenAI-compatible server. */
type ChatSettings = {
  /**
   * Base URL with or without a trailing slash: `http://127.0.0.1:11434/v1`. It is set by the operator, so the
   * egress guard does not apply.
   */
  baseUrl: string;
  model: string;
  apiKey?: string;
  fetch: FetchLike;
} & Partial<RetryOptions>;

/**
 * Text, or a list of parts: Mistral and gateways before it, whose thoughts are parts of their own
 * (docs.mistral.ai/capabilities/reasoning). Some gateways parse the text: an object without type and text is an
 * answer if it has a field of one.
 */
const partSchema = z.union([
  z.string(),
  z.looseObject({ type: z.string().optional().catch(undefined), text: z.string().nullish().catch(null) }),
]);
const contentSchema = z.union([partSchema, z.array(partSchema)]);
const tokensSchema = z.number().nonnegative().transform(Math.ceil).nullish().catch(null);
const callSchema = z.object({ arguments: z.union([z.string(), z.looseObject({})]) });
const thoughtsSchema = z.string().nullish().catch(null);

/**
 * Used part of a chat completion. Servers omit, null or miscount what they do not need: only a lack of content costs
 * the verdict.
 */
const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        // `length` if the tokens of the answer or the context were used up
        // (platform.openai.com/docs/api-reference/chat/object, github.com/ollama/ollama/pull/5312; vLLM and llama.cpp
        // copy it).
        finish_reason: z.string().nullish().catch(null),
        message: z.object({
          content: contentSchema.nullish(),
          refusal: z.string().nullish().catch(null),
          // Thoughts of a thinking model: Ollama, vLLM and OpenRouter; llama.cpp and older vLLM.
          reasoning: thoughtsSchema,
          reasoning_content: thoughtsSchema,
          tool_calls: z
            .array(z.object({ function: callSchema }))
            .nullish()
            .catch(null),
          function_call: callSchema.nullish().catch(null),
        }),
      }),
    )
    .min(1)
    .transform((choices) => choices.toSorted((a, b) => a.index - b.index)),
  usage: z.object({ prompt_tokens: tokensSchema, completion_tokens: tokensSchema }).nullish().catch(null),
});
type Completion = z.infer<typeof completionSchema>;

/**
 * Creates a function that sends one request to `/chat/completions`. The schema is set as `response_format`. If a server
 * rejects that (400 or 422), a simpler format follows, also in all later requests for the task; once a server has
 * accepted a format, its errors are final. A parameter that an error names is renamed or left out, also in all later
 * requests. If a model thinks until its tokens are used up, the request is repeated without thinking, and so are all
 * later ones. Throws `VisionError`.
 */
export function createChat({ baseUrl, model, apiKey, ...posting }: ChatSettings): AskModel {
  const url = toEndpoint(baseUrl);
  const headers = {
    'content-type': 'application/json',
    ...(apiKey && authorize(url, apiKey)),
  };
  const post = (body: object, signal: AbortSignal) =>
    postWithRetry({ url: url.href, headers, body: JSON.stringify(body) }, posting, signal);
  /** Position in `requestFormats` of the format that the server has accepted, by task. */
  const accepted = new Map<string, number>();
  /** Parameters that the server has refused for this model, as often as it did. */
  const refusals: string[] = [];
  let thinks = true;

  async function ask(task: ModelTask<unknown>, frames: Uint8Array[], signal: AbortSignal): Promise<Reply> {
    const first = accepted.get(task.name);
    const formats = first === undefined ? requestFormats : requestFormats.slice(first, first + 1);
    let reply: Reply = { status: 0, body: '' };
    for (const build of formats) {
      reply = await postAdapted({ ...build(model, task, frames), ...(!thinks && withoutThinking) }, signal);
      if (reply.status === 200) accepted.set(task.name, requestFormats.indexOf(build));
      if (!mayRejectFormat(reply)) return reply;
    }
    return reply;
  }

  /**
   * Repeats a request without the parameter that the server refuses. Each refusal shortens the request, so the series
   * ends.
   */
  async function postAdapted(
    request: Parameters<typeof adaptRequest>[0],
    signal: AbortSignal,
  ): Promise<Reply> {
    const adapted = adaptRequest(request, refusals);
    const reply = await post(adapted, signal);
    const refused = mayRefuse(reply) ? findRefusal(reply.body, adapted) : undefined;
    if (refused === undefined) return reply;
    refusals.push(refused);
    return postAdapted(request, signal);
  }

  return async (task, { pictures }, signal) => {
    const tokens = { input_tokens: 0, output_tokens: 0 };
    return withTokens(tokens, async () => {
      let answer = readCompletion(await ask(task, pictures, signal), task, model, tokens);
      if (answer.onlyThoughts && thinks) {
        thinks = false;
        answer = readCompletion(await ask(task, pictures, signal), task, model, tokens);
      }
      if (answer.onlyThoughts) {
        const until =
          answer.end === 'complete' ? '' : ` until its limit of ${task.maxTokens} tokens is used up`;
        throw new VisionError(
          `${model} thinks${until}, and gives no answer. Use its "instruct" variant, or turn thinking off in the server.`,
        );
      }
      return { fields: readAnswer(task, answer.text, answer.end), tokens };
    });
  };
}

/** Returns the address of the endpoint. The query stays behind the path: Azure has `?api-version=`. */
function toEndpoint(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/(?:(?<!\/)\/+)?$/, '');
  if (!path.endsWith('/chat/completions')) url.pathname = `${path}/chat/completions`;
  return url;
}

/**
 * Azure takes the key of a deployment in a header of its own (learn.microsoft.com/azure/ai-services/openai/reference).
 */
function authorize(url: URL, apiKey: string): Record<string, string> {
  return url.searchParams.has('api-version') ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

type ChatAnswer = { text: string; end: AnswerEnd; onlyThoughts: boolean };

function readCompletion(reply: Reply, task: ModelTask<unknown>, model: string, used: TokenUse): ChatAnswer {
  if (reply.status !== 200) {
    const cause = new Error(reply.body.slice(0, 500));
    if (exceedsContext(reply)) throw new ContextError({ cause });
    if (hasTooManyPictures(reply)) throw new PictureCountError(remedyFor(reply, model), { cause });
    throw new VisionError(remedyFor(reply, model), { cause });
  }
  const { maxTokens } = task;
  const { choices, usage } = parseCompletion(reply.body);
  used.input_tokens += usage?.prompt_tokens ?? 0;
  used.output_tokens += usage?.completion_tokens ?? 0;
  const message = choices[0]?.message;
  const refusal = message?.refusal || (choices[0]?.finish_reason === 'content_filter' && 'content_filter');
  if (refusal) {
    throw new VisionError(refusalRemedy, { cause: new Error(refusal) });
  }
  const reason = choices[0]?.finish_reason ?? '';
  const isCut = /length|max_tokens/i.test(reason);
  const text = joinText(message?.content ?? '', task) || (message && !isCut ? findMisplaced(message) : '');
  const thoughts = message?.reasoning ?? message?.reasoning_content ?? text;
  // Ollama shortens the request to its context, which leaves few tokens or one
  // (github.com/can1357/oh-my-pi/issues/2774). Mistral has a reason of its own.
  const contextIsFull =
    reason === 'model_length' || (isCut && (usage?.completion_tokens ?? maxTokens) < maxTokens);
  return {
    text,
    end: contextIsFull ? 'context' : isCut ? 'token limit' : 'complete',
    // The thoughts of some hosted models are in no field.
    onlyThoughts: withoutThoughts(text).trim() === '' && (thoughts !== '' || isCut) && !contextIsFull,
  };
}

/**
 * Returns an answer that a server has put elsewhere, though it is nothing but the object of the answer: LM Studio and
 * vLLM among the thoughts of a model that has none (github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1971,
 * github.com/vllm-project/vllm/issues/19222), others as a call of a tool.
 */
function findMisplaced(message: Completion['choices'][number]['message']): string {
  const called = [
    ...(message.tool_calls ?? []).map((call) => call.function),
    message.function_call ?? [],
  ].flat();
  const calls = called.map(({ arguments: stated }) =>
    typeof stated === 'string' ? stated : JSON.stringify(stated),
  );
  return [message.reasoning, message.reasoning_content, ...calls].find((text) => isObject(text ?? '')) ?? '';
}

function isObject(text: string): boolean {
  return text.trim().startsWith('{') && parseJson(text) !== undefined;
}

function joinText(content: z.infer<typeof contentSchema>, task: ModelTask<unknown>): string {
  const isAnswer = (part: object) =>
    Object.keys(part).some((name) => Object.hasOwn(toAnswerSchema(task).properties, name));
  return [content]
    .flat()
    .map((part) => {
      if (typeof part === 'string') return part;
      const { type, text } = part;
      if (type === undefined && typeof text !== 'string') return isAnswer(part) ? JSON.stringify(part) : '';
      return /^(?:output_)?text$/.test(type ?? 'text') ? text : '';
    })
    .join('');
}

function parseCompletion(body: string): Completion {
  const { data, error: cause } = completionSchema.safeParse(parseJson(body));
  if (data) return data;
  throw new VisionError('The vision server did not return a chat completion. Check its URL.', { cause });
}

/**
 * Returns true if the request is longer than the context: llama.cpp (github.com/ggml-org/llama.cpp/pull/15780, status
 * 400, or 500 in issue 19774), OpenAI (`context_length_exceeded`), vLLM (github.com/vllm-project/vllm/issues/20409), LM
 * Studio, TGI, Gemini.
 */
function exceedsContext({ body }: Reply): boolean {
  return /exceed_context_size_error|context_length_exceeded|maximum context length|context size has been exceeded|context length of only|max_new_tokens. must be <=|input token count/i.test(
    body.slice(0, 2_000),
  );
}

/**
 * Returns true if a server takes fewer pictures in one request: vLLM without `--limit-mm-per-prompt`
 * (github.com/vllm-project/vllm/issues/13513, status 400), Ollama with a model for one picture
 * (github.com/ollama/ollama/issues/9020, status 500).
 */
function hasTooManyPictures({ body }: Reply): boolean {
  return /at most [1-9]\d* image|single image|too many images/i.test(body.slice(0, 2_000));
}

/** Returns true if another request can help. The context and a model without image support stay as they are. */
function mayRefuse({ status, body }: Reply): boolean {
  const isOwnError = status >= 500 && /response_format|json_schema|grammar|role/i.test(body.slice(0, 2_000));
  const isRejected = (status === 400 || status === 422 || isOwnError) && !isFiltered(body);
  return isRejected && !exceedsContext({ status, body });
}

/** Returns true if a simpler format can help. */
function mayRejectFormat(reply: Reply): boolean {
  return mayRefuse(reply) && !/\bimages?\b|multimodal/i.test(reply.body.slice(0, 2_000));
}

/**
 * Returns true if a filter of the host refuses pictures or prompt
 * (learn.microsoft.com/azure/ai-services/openai/concepts/content-filter).
 */
function isFiltered(body: string): boolean {
  return /content_filter|ResponsibleAIPolicyViolation/.test(body.slice(0, 2_000));
}

const refusalRemedy = 'The model refuses to answer. Rephrase the condition or use another model.';

function remedyFor({ status, body }: Reply, model: string): string {
  if (lacksCredit({ status, body }))
    return 'The account of the vision server has no credit. Add credit, or use another server.';
  if (isFiltered(body)) return refusalRemedy;
  // LM Studio (github.com/lmstudio-ai/lms/issues/362, status 200), and llama.cpp without its projector
  // (github.com/ggml-org/llama.cpp/blob/master/tools/server/server.cpp, status 500).
  if (/(?:image input is not supported|support image input|mmproj|vision add-on)/i.test(body.slice(0, 2_000)))
    return `${model} takes no images on this server. Start llama.cpp with its projector (--mmproj), or use a model that supports images.`;
  switch (status) {
    case 401:
    case 403:
      return 'The vision server rejects the API key. Check the key.';
    case 404:
      return `The vision server has no model ${model} or no /chat/completions at this URL. Check both.`;
    case 413:
      return 'The vision server refuses the size of the pictures. Raise its limit (nginx: client_max_body_size), or lower WATCHPOST_VISION_WIDTH.';
    case 429:
    case 502:
    case 503:
    case 529:
      return 'The vision server is overloaded. Use a longer interval or a faster server.';
    default:
      return `The vision server returned status ${status}. Check that ${model} supports images, and check the server's log.`;
  }
}
