import { VisionError } from '../../../core/errors.ts';
import type { TokenUse } from '../../../core/vision.ts';
import { jsonInText } from '../json-in-text.ts';
import { readAnswer, type Task } from '../task.ts';
import { type Completion, completionSchema } from './completion.ts';
import { plainRequest, schemaRequest } from './request.ts';
import { type FetchLike, type Patience, patientPost, type Reply } from './patient-post.ts';

export type ChatSettings = {
  /** Without a slash at the end or with one: `http://127.0.0.1:11434/v1`. The operator's own, so no egress guard. */
  baseUrl: string;
  model: string;
  apiKey?: string;
  fetch: FetchLike;
} & Partial<Patience>;

type Chat = <Fields>(
  task: Task<Fields>,
  frames: Uint8Array[],
  signal: AbortSignal,
) => Promise<{ fields: Fields; tokens: TokenUse }>;

/**
 * One question to `/chat/completions`. The schema goes into `response_format`; a server that refuses that (400 or 422)
 * is asked for JSON in words, then and from then on.
 */
export function createChat({ baseUrl, model, apiKey, ...posting }: ChatSettings): Chat {
  const url = `${baseUrl.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
  };
  const post = (body: object, signal: AbortSignal) =>
    patientPost({ url, headers, body: JSON.stringify(body) }, posting, signal);
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
    return { fields: readAnswer(task, jsonInText(text)), tokens };
  };
}

function readCompletion({ status, body }: Reply, model: string): { text: string; tokens: TokenUse } {
  if (status !== 200)
    throw new VisionError(remedyFor(status, model), { cause: new Error(body.slice(0, 500)) });
  const { choices, usage } = parseCompletion(body);
  const message = choices[0]?.message;
  if (message?.refusal) {
    throw new VisionError(
      'The model refuses to answer. Put the condition differently or use another model.',
      {
        cause: new Error(message.refusal),
      },
    );
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
    throw new VisionError('The vision server answers something else than a chat completion. Check its URL.', {
      cause,
    });
  }
}

function remedyFor(status: number, model: string): string {
  switch (status) {
    case 401:
    case 403:
      return 'The vision server refuses the API key. Check it.';
    case 404:
      return `The vision server has no model ${model} or no /chat/completions at this URL. Check both.`;
    case 429:
    case 503:
      return 'The vision server stayed busy. Use a longer interval or a faster server.';
    default:
      return `The vision server answered with status ${status}. Check that ${model} takes pictures, and the server's log.`;
  }
}
