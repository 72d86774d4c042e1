import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs the bundle of `stream` with AWS's runtime client (`aws-lambda-ric`), since the emulator does not stream
 * responses. Implements the runtime API (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) with streamed
 * responses, and the function URL that converts requests to events. An instance handles one request at a time, as on
 * Lambda.
 */
export type StreamRuntime = {
  answer(request: IncomingMessage, response: ServerResponse, added: OutgoingHttpHeaders): Promise<void>;
  /** Maximum number of concurrent instances so far. */
  instances(): number;
  close(): Promise<void>;
};

const withoutNativeClient = new URL('without-native-client.ts', import.meta.url).href;

type Invocation = { id: string; event: object; response: ServerResponse };

export function createStreamRuntime(
  {
    ricPath,
    bundles,
    environment,
    directory,
  }: {
    ricPath: string;
    bundles: string;
    environment: Record<string, string>;
    directory: string;
  },
  deadlineSeconds = 900,
): StreamRuntime {
  const instances: Instance[] = [];
  const log = openSync(join(directory, 'stream.log'), 'a');

  async function idle(): Promise<Instance> {
    const free = instances.find((instance) => !instance.busy && !instance.isGone);
    if (free) {
      free.busy = true;
      return free;
    }
    const instance = new Instance({ ricPath, bundles, environment }, deadlineSeconds);
    instances.push(instance);
    await instance.start(log);
    return instance;
  }

  return {
    answer: async (request, response, added) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const instance = await idle();
      const event = functionUrlEvent(request, Buffer.concat(chunks), added);
      await instance.invoke({ id: randomUUID(), event, response });
    },
    instances: () => instances.length,
    close: async () => {
      await Promise.all(instances.map((instance) => instance.close()));
    },
  };
}

type Setup = { ricPath: string; bundles: string; environment: Record<string, string> };

/** Execution environment of the function. */
class Instance {
  busy = true;
  readonly #setup: Setup;
  readonly #deadlineSeconds: number;
  #server: Server | undefined;
  #child: ChildProcess | undefined;
  #waiting: ((invocation: Invocation) => void) | undefined;
  #next: Invocation | undefined;
  #current: { invocation: Invocation; done: () => void } | undefined;

  constructor(setup: Setup, deadlineSeconds: number) {
    this.#setup = setup;
    this.#deadlineSeconds = deadlineSeconds;
  }

  async start(log: number): Promise<void> {
    this.#server = createServer((request, response) => this.#api(request, response));
    // No timeouts, as in Lambda's runtime API: its client keeps connections, and a response may take 15 minutes.
    Object.assign(this.#server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0, timeout: 0 });
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const { ricPath, bundles, environment } = this.#setup;
    this.#child = spawn(process.execPath, ['--import', withoutNativeClient, ricPath, 'index.handler'], {
      cwd: join(bundles, 'stream'),
      env: {
        PATH: process.env['PATH'],
        ...environment,
        AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_FUNCTION_NAME: 'stream',
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
        AWS_LAMBDA_LOG_GROUP_NAME: environment['LOG_GROUP'],
        AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        LAMBDA_TASK_ROOT: join(bundles, 'stream'),
        _HANDLER: 'index.handler',
      },
      stdio: ['ignore', log, log],
    });
    this.#child.once('exit', () => this.#finish(502));
  }

  /** True if the runtime has ended; its request ends too, as on Lambda. */
  get isGone(): boolean {
    return this.#child !== undefined && (this.#child.exitCode !== null || this.#child.signalCode !== null);
  }

  invoke(invocation: Invocation): Promise<void> {
    return new Promise((resolve) => {
      this.#current = { invocation, done: resolve };
      // A disconnect does not end the invocation on Lambda; the response is discarded.
      if (this.#waiting) this.#waiting(invocation);
      else this.#next = invocation;
    });
  }

  #api(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (path.endsWith('/invocation/next')) return this.#give(response);
    if (path.endsWith('/response')) return this.#pass(request, response);
    // Error of the handler or of its initialization.
    request.resume();
    request.on('end', () => {
      response.writeHead(202).end();
      this.#finish(502);
    });
  }

  #give(response: ServerResponse): void {
    const send = (invocation: Invocation) => {
      this.#waiting = undefined;
      this.#next = undefined;
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Lambda-Runtime-Aws-Request-Id': invocation.id,
        'Lambda-Runtime-Deadline-Ms': String(Date.now() + this.#deadlineSeconds * 1_000),
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:000000000000:function:stream',
        'Lambda-Runtime-Trace-Id':
          'Root=1-00000000-000000000000000000000000;Parent=0000000000000000;Sampled=0',
      });
      response.end(JSON.stringify(invocation.event));
    };
    if (this.#next) send(this.#next);
    else this.#waiting = send;
  }

  /** Forwards the streamed response: JSON of status and headers, eight null bytes, then the body. */
  #pass(request: IncomingMessage, response: ServerResponse): void {
    const viewer = this.#current?.invocation.response;
    let head = Buffer.alloc(0);
    let opened = false;
    request.on('data', (chunk: Buffer) => {
      if (opened) return void viewer?.write(chunk);
      head = Buffer.concat([head, chunk]);
      const at = head.indexOf(Buffer.alloc(8));
      if (at < 0) return;
      opened = true;
      const { statusCode, headers } = JSON.parse(head.subarray(0, at).toString());
      viewer?.writeHead(statusCode, headers);
      viewer?.flushHeaders();
      const rest = head.subarray(at + 8);
      if (rest.length > 0) viewer?.write(rest);
    });
    request.on('end', () => {
      response.writeHead(202).end();
      const failed = request.trailers['lambda-runtime-function-error-type'] !== undefined;
      if (failed) viewer?.destroy();
      this.#finish(opened ? undefined : 502);
    });
  }

  #finish(status: number | undefined): void {
    const current = this.#current;
    this.#current = undefined;
    this.busy = false;
    const viewer = current?.invocation.response;
    if (viewer && !viewer.destroyed) {
      if (status !== undefined && !viewer.headersSent) viewer.writeHead(status);
      viewer.end();
    }
    current?.done();
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}

/** Converts a request to payload format 2.0 (https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html). */
function functionUrlEvent(request: IncomingMessage, body: Buffer, added: OutgoingHttpHeaders): object {
  const { pathname, search } = new URL(`http://viewer${request.url ?? '/'}`);
  const { cookie, ...others } = request.headers;
  const headers = Object.fromEntries(
    Object.entries({ ...others, ...added }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : String(value)]],
    ),
  );
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    ...(cookie !== undefined && { cookies: cookie.split('; ') }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'stream',
      domainName: 'stream.lambda-url.us-east-1.on.aws',
      http: { method: request.method, path: pathname, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
      requestId: randomUUID(),
      stage: '$default',
    },
    ...(body.length > 0 && { body: body.toString('base64') }),
    isBase64Encoded: body.length > 0,
  };
}
