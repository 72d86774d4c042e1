import { VisionError } from '../../../core/errors.ts';
import type { TokenUse } from '../../../core/records/vision.ts';
import { extractJson } from '../extract-json.ts';
import { readAnswer, type ModelTask } from '../task.ts';
import { type Completion, completionSchema } from './completion.ts';
import { plainRequest, schemaRequest, withoutThinking } from './request.ts';
import { type FetchLike, type RetryOptions, postWithRetry, type Reply } from './post-with-retry.ts';

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

type Chat = <Fields>(
  task: ModelTask<Fields>,
  frames: Uint8Array[],
  signal: AbortSignal,
) => Promise<{ fields: Fields; tokens: TokenUse }>;

/**
 * Creates a function that sends one request to `/chat/completions`. The schema is set as `response_format`. If a
 * server rejects that (400 or 422), the prompt requests JSON instead, also in all later requests. If a model thinks
 * until its tokens are used up, the request is repeated without thinking, and so are all later ones. Throws
 * `VisionError`.
 */
export function createChat({ baseUrl, model, apiKey, ...posting }: ChatSettings): Chat {
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  const post = (body: object, signal: AbortSignal) =>
    postWithRetry({ url, headers, body: JSON.stringify(body) }, posting, signal);
  let takesSchema = true;
  let thinks = true;

  async function ask(task: ModelTask<unknown>, frames: Uint8Array[], signal: AbortSignal): Promise<Reply> {
    const build = takesSchema ? schemaRequest : plainRequest;
    const extra = thinks ? {} : withoutThinking;
    const reply = await post({ ...build(model, task, frames), ...extra }, signal);
    if (build === plainRequest || (reply.status !== 400 && reply.status !== 422)) return reply;
    const plainReply = await post({ ...plainRequest(model, task, frames), ...extra }, signal);
    if (plainReply.status === 200) takesSchema = false;
    return plainReply;
  }

  return async (task, frames, signal) => {
    let answer = readCompletion(await ask(task, frames, signal), model);
    if (answer.onlyThoughts && thinks) {
      thinks = false;
      answer = readCompletion(await ask(task, frames, signal), model);
    }
    if (answer.onlyThoughts)
      throw new VisionError(
        `${model} thinks until its tokens are used up, and gives no answer. Use its "instruct" variant, or turn thinking off in the server.`,
      );
    return { fields: readAnswer(task, extractJson(answer.text)), tokens: answer.tokens };
  };
}

type ChatAnswer = { text: string; onlyThoughts: boolean; tokens: TokenUse };

function readCompletion({ status, body }: Reply, model: string): ChatAnswer {
  if (status !== 200)
    throw new VisionError(remedyFor(status, model), { cause: new Error(body.slice(0, 500)) });
  const { choices, usage } = parseCompletion(body);
  const message = choices[0]?.message;
  if (message?.refusal) {
    throw new VisionError('The model refuses to answer. Rephrase the condition or use another model.', {
      cause: new Error(message.refusal),
    });
  }
  const text = message?.content ?? '';
  const thoughts = message?.reasoning ?? message?.reasoning_content ?? '';
  return {
    text,
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

function remedyFor(status: number, model: string): string {
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
