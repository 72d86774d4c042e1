import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { jsonCalls } from '../../../../adapters/aws/requests/json-calls.ts';
import { localRequests } from '../requests/local-requests.ts';

export type Asked = { command: string; body: any };
/** Body of a 200 response, name of an error, or a broken connection. */
export type Reply = { body: object } | { error: string; status?: number; fields?: object } | 'broken line';

/** Server for DynamoDB's protocol with scripted responses, the last one repeated. `asked` holds the requests. */
export async function scriptedDynamo(replies: Reply[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const dynamo = jsonCalls(localRequests({ endpoint: `http://127.0.0.1:${address.port}` }), 'dynamodb');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { dynamo, asked };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const command = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    asked.push({ command, body: JSON.parse(await readBody(request)) });
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === undefined || reply === 'broken line') {
      request.socket.destroy();
      return;
    }
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    if ('body' in reply) response.end(JSON.stringify(reply.body));
    else {
      const type = `com.amazonaws.dynamodb.v20120810#${reply.error}`;
      response.statusCode = reply.status ?? 400;
      response.end(JSON.stringify({ __type: type, message: reply.error, ...reply.fields }));
    }
  }
}

export function cancelled(...codes: string[]): Reply {
  const CancellationReasons = codes.map((Code) => ({ Code, Message: Code }));
  return { error: 'TransactionCanceledException', fields: { CancellationReasons } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks = await request.toArray();
  return Buffer.concat(chunks).toString();
}
