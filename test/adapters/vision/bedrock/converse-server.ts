import { createServer, type ServerHttp2Stream } from 'node:http2';
import { z } from 'zod';
import { createBedrockClient } from '../../../../adapters/vision/bedrock/bedrock-client.ts';
import { readPort } from '../port-of.ts';

const mediaSchema = z.strictObject({ format: z.string(), source: z.strictObject({ bytes: z.string() }) });

/** Schema of the used part of Converse. Any other field fails the test. */
const requestSchema = z.strictObject({
  system: z.array(z.strictObject({ text: z.string() })),
  messages: z.array(
    z.strictObject({
      role: z.literal('user'),
      content: z.array(
        z.strictObject({
          text: z.string().optional(),
          image: mediaSchema.optional(),
          video: mediaSchema.optional(),
        }),
      ),
    }),
  ),
  inferenceConfig: z.strictObject({ maxTokens: z.int(), temperature: z.number().optional() }),
  toolConfig: z
    .strictObject({
      tools: z.array(
        z.strictObject({
          toolSpec: z.strictObject({
            name: z.string(),
            description: z.string(),
            inputSchema: z.strictObject({
              json: z.strictObject({
                type: z.literal('object'),
                properties: z.record(z.string(), z.unknown()),
                required: z.array(z.string()),
              }),
            }),
          }),
        }),
      ),
      toolChoice: z.unknown().optional(),
    })
    .optional(),
});

/** Received requests. */
type Arrived = { path: string; authorization: string; body: z.infer<typeof requestSchema> };

/** Response of the server; `hang` never responds. */
export type Reply = { status: number; body: unknown; errorType?: string } | 'hang';

/** HTTP/2 server for Bedrock Converse, as used by the SDK. Sends its replies in order and repeats the last one. */
export async function converseServer(...replies: Reply[]) {
  const arrived: Arrived[] = [];
  const server = createServer();
  server.on('session', (session) => session.on('error', () => undefined));
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const body = requestSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
      arrived.push({ path: headers[':path'] ?? '', authorization: headers.authorization ?? '', body });
      answer(stream, replies[Math.min(arrived.length, replies.length) - 1]!);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createBedrockClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${readPort(server)}`,
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'not-a-secret' },
    maxAttempts: 3,
  });
  return {
    client,
    arrived,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(stream: ServerHttp2Stream, reply: Reply): void {
  if (reply === 'hang') return;
  const errorType = reply.errorType === undefined ? {} : { 'x-amzn-errortype': reply.errorType };
  stream.respond({ ':status': reply.status, 'content-type': 'application/json', ...errorType });
  stream.end(JSON.stringify(reply.body));
}

const usage = { inputTokens: 812, outputTokens: 41, totalTokens: 853 };

export function toolUse(name: string, input: unknown, stopReason = 'tool_use'): Reply {
  return completion([{ toolUse: { toolUseId: 'tooluse_1', name, input } }], stopReason);
}

export function spoken(text: string, stopReason = 'end_turn'): Reply {
  return completion([{ text }], stopReason);
}

export const throttled: Reply = {
  status: 429,
  errorType: 'ThrottlingException',
  body: { message: 'Too many tokens, please wait before trying again.' },
};

export const broken: Reply = {
  status: 500,
  errorType: 'InternalServerException',
  body: { message: 'The system encountered an unexpected error.' },
};

function completion(content: unknown[], stopReason: string): Reply {
  const body = {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage,
    metrics: { latencyMs: 7 },
  };
  return { status: 200, body };
}
