import { VisionError } from '../../../core/errors.ts';
import type { TokenUse } from '../../../core/records/vision.ts';
import { extractJson } from '../extract-json.ts';
import { readAnswer, type ModelTask } from '../task.ts';
import { type Completion, completionSchema } from './completion.ts';
import { plainRequest, schemaRequest } from './request.ts';
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
 * server rejects that (400 or 422), the prompt requests JSON instead, also in all later requests. Throws
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

  return async (task, frames, signal) => {
    const schemaTried = takesSchema;
    let reply = await post(
      schemaTried ? schemaRequest(model, task, frames) : plainRequest(model, task, frames),
      signal,
    );
    if (schemaTried && (reply.status === 400 || reply.status === 422)) {
      reply = await post(plainRequest(model, task, frames), signal);
      if (reply.status === 200) takesSchema = false;
    }
    const { text, tokens } = readCompletion(reply, model);
    return { fields: readAnswer(task, extractJson(text)), tokens };
  };
}

function readCompletion({ status, body }: Reply, model: string): { text: string; tokens: TokenUse } {
  if (status !== 200)
    throw new VisionError(remedyFor(status, model), { cause: new Error(body.slice(0, 500)) });
  const { choices, usage } = parseCompletion(body);
  const message = choices[0]?.message;
  if (message?.refusal) {
    throw new VisionError('The model refuses to answer. Rephrase the condition or use another model.', {
      cause: new Error(message.refusal),
    });
  }
  return {
    text: message?.content ?? '',
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
