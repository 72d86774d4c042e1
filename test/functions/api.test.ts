import { beforeEach, expect, test } from 'vitest';
import { createHttpFunction } from '../../adapters/aws/http/http-function.ts';
import { noEventSessions } from '../../functions/api/dependencies.ts';
import { originSecretHeader, viewerHostHeader } from '../../adapters/aws/http/origins.ts';
import { createApp } from '../../adapters/http/app.ts';
import { mintKey } from '../../core/access/api-key.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { createHandler } from '../../functions/api/handler.ts';
import { httpEvent } from '../adapters/aws/http/events.ts';
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

async function call(fields: Parameters<typeof httpEvent>[0]) {
  const respond = createHttpFunction({
    originSecret: { current: async () => 'secret', versions: async () => ['secret'] },
    log: world.c.log,
    baseUrl: undefined,
    appFor: (baseUrl) => {
      const eventStreams = { ...world.c.eventStreams, sessions: noEventSessions };
      return createApp({ ...world.c, baseUrl, eventStreams });
    },
  });
  const headers = {
    authorization,
    [originSecretHeader]: 'secret',
    [viewerHostHeader]: 'watch.example',
    ...fields?.headers,
  };
  const result = await createHandler({ respond, during })(httpEvent({ ...fields, headers }), lambdaContext());
  return { ...result, json: () => JSON.parse(result.body) };
}

const post = (body: object, accept = 'application/json') =>
  call({
    method: 'POST',
    rawPath: '/api/live-monitor',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  });
const monitor = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship' };

test('links in responses of api begin with the host of the viewer', async () => {
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);
  await world.begin({ run_id: job.run_id, generation: 0 });

  const page = await call({ rawPath: `/api/jobs/${job.run_id}/events` });

  expect(page.json().events[0].data.events_url).toBe(`https://watch.example/api/jobs/${job.run_id}/events`);
});

test('api rejects a request that did not pass CloudFront, even with a valid key', async () => {
  expect(await call({ rawPath: '/api/jobs', headers: { [originSecretHeader]: 'guess' } })).toMatchObject({
    statusCode: 403,
    body: 'Forbidden',
  });
});

test('api rejects a POST for an event stream, names the right address and creates no job', async () => {
  const refused = await post(monitor, 'text/event-stream');

  expect(refused.statusCode).toBe(400);
  expect(refused.json().error.remediation).toContain('base URL');
  expect((await call({ rawPath: '/api/jobs' })).json().total).toBe(0);
});

test('api rejects a GET of an event stream and names the right address', async () => {
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);

  const refused = await call({
    rawPath: `/api/jobs/${job.run_id}/events`,
    headers: { accept: 'text/event-stream' },
  });

  expect(refused.statusCode).toBe(400);
});

test('api returns the error envelope a second before Lambda ends the invocation', async () => {
  const delays: number[] = [];
  const setTimer: SetTimer = (fire, delayMs) => {
    delays.push(delayMs);
    fire();
    return () => undefined;
  };
  const never = new Promise<Response>(() => undefined);
  const handler = createHandler({ respond: () => never, during, setTimer });

  const result = await handler(httpEvent({}), lambdaContext(29_000));

  expect(delays).toEqual([28_000]);
  expect(result.statusCode).toBe(500);
  expect(JSON.parse(result.body)).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
});
