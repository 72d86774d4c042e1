import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  distributionHostHeader,
  originSecretHeader,
  viewerHostHeader,
} from '../../adapters/aws/http/origins.ts';
import { eventPaths, streamPaths } from '../../lib/edge/edge.ts';
import { runViewerFunction } from '../support/api/viewer-function.ts';
import type { Deployment } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import type { StreamRuntime } from './stream-runtime.ts';

/**
 * Starts a replacement of CloudFront, since the emulator's cannot reach the HTTP API: one address, routed by the paths
 * of the stack, with the function and the headers of the distribution.
 */
export async function startFront(
  emulator: Emulator,
  { httpApiId, originSecret, template }: Pick<Deployment, 'httpApiId' | 'originSecret' | 'template'>,
  { stream, events }: Record<'stream' | 'events', StreamRuntime>,
) {
  const toPatterns = (paths: readonly string[]) =>
    paths.map((path) => new RegExp(`^${path.replaceAll('*', '[^?]*')}$`));
  const runtimes = [
    { runtime: events, paths: toPatterns(eventPaths) },
    { runtime: stream, paths: toPatterns(streamPaths) },
  ];
  const viewerFunction = Object.values(template.Resources)
    .map(({ Properties }) => String(Properties?.['FunctionCode']))
    .find((code) => code.includes(viewerHostHeader));
  if (viewerFunction === undefined) throw new Error('The stack has no function of the edge');
  const server = createServer((request, response) => {
    const { pathname } = new URL(`http://viewer${request.url ?? '/'}`);
    const viewed = runViewerFunction(viewerFunction, {
      method: request.method,
      uri: pathname,
      headers: request.headers,
    });
    if (viewed.statusCode !== undefined)
      return void response
        .writeHead(viewed.statusCode, toHeaders(Object.keys(viewed.headers), viewed))
        .end(viewed.body.data);
    const added = {
      [originSecretHeader]: originSecret,
      ...toHeaders([viewerHostHeader, distributionHostHeader], viewed),
    };
    const served = runtimes.find(({ paths }) => paths.some((path) => path.test(pathname)));
    if (served) void served.runtime.answer(request, response, added);
    else toHttpApi(request, response, added);
  });

  function toHttpApi(request: IncomingMessage, response: ServerResponse, added: OutgoingHttpHeaders) {
    const onward = sendRequest(
      {
        host: '127.0.0.1',
        port: emulator.port,
        // The emulator closes a kept connection while a request is on its way.
        agent: false,
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

/** Returns these headers of what a function of the edge returned. */
function toHeaders(names: readonly string[], { headers }: any): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, headers[name].value]));
}
