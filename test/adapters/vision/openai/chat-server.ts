import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { z } from 'zod';
import { readPort } from '../port-of.ts';

const userSchema = z.strictObject({
  role: z.literal('user'),
  content: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) }),
      z.strictObject({ type: z.literal('text'), text: z.string() }),
    ]),
  ),
});
const requestSchema = z.strictObject({
  model: z.string(),
  messages: z.union([
    z.tuple([z.strictObject({ role: z.literal('system'), content: z.string() }), userSchema]),
    z.tuple([userSchema]),
  ]),
  temperature: z.literal(0).optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
  stream: z.literal(false),
  response_format: z.unknown().optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low']).optional(),
  chat_template_kwargs: z.strictObject({ enable_thinking: z.literal(false) }).optional(),
});
type Request = z.infer<typeof requestSchema>;

export type Arrived = { method: string; path: string; headers: IncomingHttpHeaders; body: Request };
export type Reply = { status: number; body: unknown; headers?: Record<string, string> } | 'hang';

/**
 * Server for `/chat/completions`. Sends its replies in order and repeats the last one, or computes them from the
 * request.
 */
export async function chatServer(...replies: (Reply | ((arrived: Arrived) => Reply))[]) {
  const arrived: Arrived[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const now = { method, path: url, headers, body: requestSchema.parse(JSON.parse(await textOf(request))) };
    arrived.push(now);
    const next = replies[Math.min(arrived.length, replies.length) - 1]!;
    const reply = typeof next === 'function' ? next(now) : next;
    if (reply === 'hang') return;
    response.writeHead(reply.status, reply.headers);
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${readPort(server)}/v1`,
    arrived,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function says(content: string | null, extra: object = {}): Reply {
  const message = { role: 'assistant', content, ...extra };
  const usage = { prompt_tokens: 301, completion_tokens: 17, total_tokens: 318 };
  return {
    status: 200,
    body: { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
  };
}

/** Response that the token limit has cut. */
export function cut(content: string | null, completionTokens = 300): Reply {
  const message = { role: 'assistant', content };
  const usage = { prompt_tokens: 301, completion_tokens: completionTokens };
  return { status: 200, body: { choices: [{ message, finish_reason: 'length' }], usage } };
}

export const busy = (retryAfter?: string): Reply => ({
  status: 429,
  body: { error: { message: 'busy' } },
  ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
});
