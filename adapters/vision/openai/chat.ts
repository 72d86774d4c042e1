import { z } from 'zod';
import { VisionError } from '../../../core/errors.ts';
import type { TokenUse } from '../../../core/records/vision.ts';
import type { Chat } from '../picture-vision.ts';
import { type AnswerEnd, ContextError, type ModelTask, PictureCountError, readAnswer } from '../task.ts';
import { requestFormats, withoutThinking } from './request.ts';
import {
  type FetchLike,
  lacksCredit,
  type RetryOptions,
  postWithRetry,
  type Reply,
} from './post-with-retry.ts';

/** Connection to an OpenAI-compatible server. */
export type ChatSettings = {
  /**
   * Base URL with or without a trailing slash: `http://127.0.0.1:11434/v1`. It is set by the operator, so the
   * egress guard does not apply.
   */
  baseUrl: string;
  model: string;
  apiKey?: string;
  fetch: FetchLike;
} & Partial<RetryOptions>;

/** Used part of a chat completion. Servers omit or null values that they do not count. */
const completionSchema = z.object({
  choices: z
    .array(
      z.object({
        // `length` if the tokens of the answer or the context were used up (platform.openai.com/docs/api-reference/chat/object,
        // github.com/ollama/ollama/pull/5312; vLLM and llama.cpp copy it).
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          // Thoughts of a thinking model: Ollama, vLLM and OpenRouter; llama.cpp and older vLLM.
          reasoning: z.string().nullish(),
          reasoning_content: z.string().nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: z.int().nonnegative().nullish(),
      completion_tokens: z.int().nonnegative().nullish(),
    })
    .nullish(),
});
/** Used part of a chat completion. */
type Completion = z.infer<typeof completionSchema>;

/**
 * Creates a function that sends one request to `/chat/completions`. The schema is set as `response_format`. If a
 * server rejects that (400 or 422), a simpler format follows, also in all later requests for the task; once a server has accepted a
 * format, its errors are final. If a model thinks until its tokens are used up, the request is repeated without thinking, and so are all
 * later ones. Throws `VisionError`.
 */
export function createChat({ baseUrl, model, apiKey, ...posting }: ChatSettings): Chat {
  const url = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  const post = (body: object, signal: AbortSignal) =>
    postWithRetry({ url, headers, body: JSON.stringify(body) }, posting, signal);
  /** Position in `requestFormats` of the format that the server has accepted, by task. */
  const accepted = new Map<string, number>();
  let thinks = true;

  async function ask(task: ModelTask<unknown>, frames: Uint8Array[], signal: AbortSignal): Promise<Reply> {
    const first = accepted.get(task.name);
    const formats = first === undefined ? requestFormats : requestFormats.slice(first, first + 1);
    let reply: Reply = { status: 0, body: '' };
    for (const build of formats) {
      reply = await post({ ...build(model, task, frames), ...(!thinks && withoutThinking) }, signal);
      if (reply.status === 200) accepted.set(task.name, requestFormats.indexOf(build));
      if (!mayRejectFormat(reply)) return reply;
    }
    return reply;
  }

  return async (task, frames, signal) => {
    let answer = readCompletion(await ask(task, frames, signal), task, model);
    if (answer.onlyThoughts && thinks) {
      thinks = false;
      answer = readCompletion(await ask(task, frames, signal), task, model);
    }
    if (answer.onlyThoughts)
      throw new VisionError(
        `${model} thinks until its ${task.maxTokens} tokens are used up, and gives no answer. Use its "instruct" variant, or turn thinking off in the server.`,
      );
    return { fields: readAnswer(task, answer.text, answer.end), tokens: answer.tokens };
  };
}

type ChatAnswer = { text: string; end: AnswerEnd; onlyThoughts: boolean; tokens: TokenUse };

function readCompletion(reply: Reply, { maxTokens }: ModelTask<unknown>, model: string): ChatAnswer {
  if (reply.status !== 200) {
    const cause = new Error(reply.body.slice(0, 500));
    if (exceedsContext(reply)) throw new ContextError({ cause });
    if (hasTooManyPictures(reply)) throw new PictureCountError(remedyFor(reply, model), { cause });
    throw new VisionError(remedyFor(reply, model), { cause });
  }
  const { choices, usage } = parseCompletion(reply.body);
  const message = choices[0]?.message;
  if (message?.refusal) {
    throw new VisionError('The model refuses to answer. Rephrase the condition or use another model.', {
      cause: new Error(message.refusal),
    });
  }
  const text = message?.content ?? '';
  const thoughts = message?.reasoning ?? message?.reasoning_content ?? '';
  const isCut = choices[0]?.finish_reason === 'length';
  // Ollama shortens the request to its context, which leaves few tokens or one (github.com/can1357/oh-my-pi/issues/2774).
  const contextIsFull = isCut && (usage?.completion_tokens ?? maxTokens) < maxTokens;
  return {
    text,
    end: contextIsFull ? 'context' : isCut ? 'token limit' : 'complete',
    onlyThoughts: text.trim() === '' && thoughts !== '',
    tokens: { input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 },
  };
}

function parseCompletion(body: string): Completion {
  try {
    return completionSchema.parse(JSON.parse(body));
  } catch (cause) {
    throw new VisionError('The vision server did not return a chat completion. Check its URL.', {
      cause,
    });
  }
}

/**
 * Returns true if the request is longer than the context: llama.cpp (github.com/ggml-org/llama.cpp/pull/15780, status 400, or 500 in
 * issue 19774), OpenAI (`context_length_exceeded`), vLLM (github.com/vllm-project/vllm/issues/20409).
 */
function exceedsContext({ body }: Reply): boolean {
  return /exceed_context_size_error|context_length_exceeded|maximum context length|context size has been exceeded/i.test(
    body.slice(0, 2_000),
  );
}

/**
 * Returns true if a server takes fewer pictures in one request: vLLM without `--limit-mm-per-prompt` (github.com/vllm-project/vllm/issues/13513,
 * status 400), Ollama with a model for one picture (github.com/ollama/ollama/issues/9020, status 500).
 */
function hasTooManyPictures({ body }: Reply): boolean {
  return /at most [1-9]\d* image|single image|too many images/i.test(body.slice(0, 2_000));
}

/** Returns true if a simpler format can help. The context and a model without image support stay as they are. */
function mayRejectFormat(reply: Reply): boolean {
  const isRejected = reply.status === 400 || reply.status === 422;
  return isRejected && !exceedsContext(reply) && !/\bimages?\b|multimodal/i.test(reply.body.slice(0, 2_000));
}

function remedyFor({ status, body }: Reply, model: string): string {
  if (lacksCredit(body))
    return 'The account of the vision server has no credit. Add credit, or use another server.';
  // llama.cpp without its projector (github.com/ggml-org/llama.cpp/blob/master/tools/server/server.cpp, status 500).
  if (/image input is not supported|mmproj/i.test(body.slice(0, 2_000)))
    return `${model} takes no images on this server. Start llama.cpp with its projector (--mmproj), or use a model that supports images.`;
  switch (status) {
    case 401:
    case 403:
      return 'The vision server rejects the API key. Check the key.';
    case 404:
      return `The vision server has no model ${model} or no /chat/completions at this URL. Check both.`;
    case 429:
    case 503:
      return 'The vision server is overloaded. Use a longer interval or a faster server.';
    default:
      return `The vision server returned status ${status}. Check that ${model} supports images, and check the server's log.`;
  }
}
