import { PassThrough, type Writable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { createHttpFunction } from '../../adapters/aws/http/http-function.ts';
import { originSecretHeader } from '../../adapters/aws/http/origins.ts';
import type { StreamingRuntime } from '../../adapters/aws/http/response-stream.ts';
import { createApp } from '../../adapters/http/app.ts';
import { mountMcp } from '../../adapters/mcp/mount-mcp.ts';
import { mintKey } from '../../core/access/api-key.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { cancelJob } from '../../core/job/end-job.ts';
import { createHandler } from '../../functions/stream/handler.ts';
import { httpEvent, restEvent } from '../adapters/aws/http/events.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import { during, lambdaContext } from './lambda-context.ts';

let world: World;
let authorization: string;
beforeEach(async () => {
  world = createWorld();
  const { text, key } = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(key);
  authorization = `Bearer ${text}`;
});

type Metadata = { statusCode: number; headers: Record<string, string> };

/** Simulates the Lambda runtime for a streaming handler. */
function runtime() {
  const begun: Metadata[] = [];
  const streaming: StreamingRuntime = {
    streamifyResponse: (handler) => handler,
    HttpResponseStream: {
      from: (stream, metadata) => {
        begun.push(metadata);
        return stream;
      },
    },
  };
  return { begun, streaming };
}

async function call(
  fields: Parameters<typeof httpEvent>[0],
  stream: PassThrough = new PassThrough(),
  sessionSeconds: number | null = null,
  toEvent: typeof httpEvent | typeof restEvent = httpEvent,
) {
  const { begun, streaming } = runtime();
  const respond = createHttpFunction({
    originSecret: { current: async () => 'secret', versions: async () => ['secret'] },
    log: world.c.log,
    baseUrl: 'https://watch.example/api',
    appFor: (baseUrl) => {
      const all = { ...world.c, baseUrl, eventStreams: { ...world.c.eventStreams, sessionSeconds } };
      const app = createApp(all);
      mountMcp(app, all);
      return app;
    },
  });
  const headers = { authorization, [originSecretHeader]: 'secret', ...fields?.headers };
  const handler = createHandler({ respond, during }, streaming) as (
    event: unknown,
    stream: Writable,
    context: unknown,
  ) => Promise<void>;
  const text = stream.toArray().catch(() => []);
  await handler(toEvent({ ...fields, headers }), stream, lambdaContext());
  return { ...begun[0], body: Buffer.concat(await text).toString() };
}

const readEvents = (jobId: string) => ({
  rawPath: `/api/jobs/${jobId}/events`,
  headers: { accept: 'text/event-stream' },
});

async function runningJob() {
  const { run_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
  await world.begin({ run_id, generation: 0 });
  return run_id;
}

test('stream sends the events of a job until its end', async () => {
  const jobId = await runningJob();
  await cancelJob(jobId, 'harbour', world.c);

  const { statusCode, headers, body } = await call(readEvents(jobId));

  expect([statusCode, headers?.['content-type']]).toEqual([200, 'text/event-stream']);
  expect(body.match(/^event: .+$/gm)).toEqual(['event: started', 'event: stopped']);
});

test('stream sends the events of a job through a REST API too', async () => {
  const jobId = await runningJob();
  await cancelJob(jobId, 'harbour', world.c);

  const { statusCode, body } = await call(readEvents(jobId), new PassThrough(), null, restEvent);

  expect(statusCode).toBe(200);
  expect(body.match(/^event: .+$/gm)).toEqual(['event: started', 'event: stopped']);
});

test('stream closes a session after its maximum duration without a terminal event', async () => {
  const { body } = await call(readEvents(await runningJob()), new PassThrough(), 840);

  expect(body).toContain('event: started');
  expect(body).not.toMatch(/event: (stopped|error)/);
  expect(body.match(/: heartbeat/g)?.length).toBeGreaterThan(50);
});

test('stream releases the session of a reader that disconnects', async () => {
  const jobId = await runningJob();
  const stream = new PassThrough();
  stream.once('data', () => stream.destroy());

  await call(readEvents(jobId), stream);

  const sessions = await Promise.all(
    Array.from({ length: 10 }, () => world.c.eventStreams.sessions.open('harbour')),
  );
  expect(sessions.every(Boolean)).toBe(true);
});

test('stream rejects a request that did not pass CloudFront', async () => {
  expect(await call({ headers: { [originSecretHeader]: '' } })).toMatchObject({
    statusCode: 403,
    body: 'Forbidden',
  });
});

test('stream also serves responses that do not stream, such as MCP', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };

  const { statusCode, body } = await call({
    method: 'POST',
    rawPath: '/mcp',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(initialize),
  });

  expect(statusCode).toBe(200);
  expect(JSON.parse(body).result.serverInfo.name).toBe('watchpost');
});
