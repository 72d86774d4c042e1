import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { originSecretHeader, viewerHostHeader } from '../../adapters/aws/http/origin-headers.ts';
import { eventPaths, streamPaths } from '../../lib/edge/edge.ts';
import type { Emulator } from './emulator.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/**
 * Starts a replacement of CloudFront, since the emulator's cannot reach the HTTP API: one address, routed by the paths of the
 * stack, with the headers that the distribution adds.
 */
export async function startFront(
  emulator: Emulator,
  { httpApiId, originSecret }: { httpApiId: string; originSecret: string },
  { stream, events }: Record<'stream' | 'events', StreamRuntime>,
) {
  const toPatterns = (paths: readonly string[]) =>
    paths.map((path) => new RegExp(`^${path.replaceAll('*', '[^?]*')}$`));
  const runtimes = [
    { runtime: events, paths: toPatterns(eventPaths) },
    { runtime: stream, paths: toPatterns(streamPaths) },
  ];
  const server = createServer((request, response) => {
    const { pathname } = new URL(`http://viewer${request.url ?? '/'}`);
    const added = { [originSecretHeader]: originSecret, [viewerHostHeader]: request.headers.host };
    const served = runtimes.find(({ paths }) => paths.some((path) => path.test(pathname)));
    if (served) void served.runtime.answer(request, response, added);
    else toHttpApi(request, response, added);
  });

  function toHttpApi(request: IncomingMessage, response: ServerResponse, added: OutgoingHttpHeaders) {
    const onward = sendRequest(
      {
        host: '127.0.0.1',
        port: emulator.port,
        method: request.method,
        path: request.url,
        headers: {
          ...request.headers,
          ...added,
          host: `${httpApiId}.execute-api.localhost:${emulator.port}`,
        },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', (error) => response.writeHead(502).end(String(error)));
    request.pipe(onward);
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
