import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient, type StreamedEvent } from '../../client/index.ts';

const closing: (() => void)[] = [];
afterEach(() => vi.useRealTimers());
afterEach(() => closing.splice(0).forEach((close) => close()));

type Connection = (response: ServerResponse, request: IncomingMessage) => void;

/** Starts a server whose n-th connection is handled by the n-th handler, and a client of it. */
async function startServer(...connections: Connection[]) {
  const resumed: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    resumed.push(request.headers['last-event-id']?.toString());
    const connection = connections.shift() ?? refuse(500, 'INTERNAL_ERROR');
    connection(response, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}/api`,
    apiKey: 'wp_key',
    sleep: async (_, signal) => signal?.throwIfAborted(),
  });
  return { client, resumed };
}

const event = (sequence: number, type = 'progress') =>
  `event: x\nid: ${sequence}\ndata: ${JSON.stringify({ type, data: { job_id: 'ID', sequence } })}\n\n`;

const sends =
  (...frames: string[]): Connection =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`retry: 1000\n\n: heartbeat\n\n${frames.join('')}`);
  };

const breaksAfter =
  (...frames: string[]): Connection =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(frames.join(''), () => setTimeout(() => response.destroy(), 20));
  };

const refuse =
  (status: number, code: string): Connection =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: { code, message: code, remediation: '' } }));
  };

async function sequences(events: AsyncIterable<StreamedEvent>): Promise<number[]> {
  const seen: number[] = [];
  for await (const { data } of events) seen.push(data.sequence);
  return seen;
}

test('follow yields each event once across broken, rejected and truncated streams', async () => {
  const { client, resumed } = await startServer(
    breaksAfter(event(1, 'job_started'), event(2), event(3).slice(0, 20)),
    refuse(500, 'INTERNAL_ERROR'),
    sends(event(2), event(3)),
    sends(event(4), event(5, 'job_stopped')),
  );

  expect(await sequences(client.follow('ID'))).toEqual([1, 2, 3, 4, 5]);

  expect(resumed).toEqual(['0', '2', '2', '3']);
});

test('follow continues after an error event to the final event', async () => {
  const { client } = await startServer(sends(event(1, 'error')), sends(event(2, 'job_stopped')));

  expect(await sequences(client.follow('ID'))).toEqual([1, 2]);
});

test('follow throws for a key that is revoked while it reads, without retries', async () => {
  const revoked = {
    error: { code: 'UNAUTHORIZED', message: 'no longer valid', remediation: 'Use another key.' },
  };
  const { client, resumed } = await startServer(
    sends(event(1, 'job_started'), `event: error\ndata: ${JSON.stringify(revoked)}\n\n`),
  );

  await expect(sequences(client.follow('ID'))).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
    remediation: 'Use another key.',
  });

  expect(resumed).toEqual(['0']);
});

test('follow ends immediately on status 204', async () => {
  const { client } = await startServer((response) => response.writeHead(204).end());

  expect(await sequences(client.follow('ID', { after: 9 }))).toEqual([]);
});

test('follow ends with a job that has fewer events than its start', async () => {
  const { client, resumed } = await startServer(sends(event(1, 'job_started'), event(2, 'job_stopped')));

  expect(await sequences(client.follow('ID', { after: 9 }))).toEqual([]);

  expect(resumed).toEqual(['9']);
});

test('follow throws for an unknown job without retries', async () => {
  const { client, resumed } = await startServer(refuse(404, 'JOB_NOT_FOUND'));

  await expect(sequences(client.follow('ID'))).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });

  expect(resumed).toHaveLength(1);
});

test('follow throws after ten consecutive connections without an event', async () => {
  const { client, resumed } = await startServer(sends(event(1, 'job_started')));

  await expect(sequences(client.follow('ID'))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });

  expect(resumed).toHaveLength(10);
});

test('follow throws after maxFailures consecutive connections without an event', async () => {
  const { client, resumed } = await startServer();

  await expect(sequences(client.follow('ID', { maxFailures: 3 }))).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
  });

  expect(resumed).toHaveLength(3);
});

test('follow does not count long sessions without events as failures', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const quiet: Connection = (response, request) => {
    vi.setSystemTime(Date.now() + 60_000);
    sends()(response, request);
  };
  const { client, resumed } = await startServer(
    ...Array<Connection>(12).fill(quiet),
    sends(event(1, 'job_stopped')),
  );

  expect(await sequences(client.follow('ID'))).toEqual([1]);

  expect(resumed).toHaveLength(13);
});

test('follow rejects with the reason of its signal', async () => {
  const leaving = new AbortController();
  const { client } = await startServer((response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(event(1, 'job_started'));
  });
  const events = client.follow('ID', { signal: leaving.signal });
  await events.next();

  const next = events.next();
  leaving.abort(new Error('Enough'));

  await expect(next).rejects.toThrow('Enough');
});

const watchEvent = (position: string, type: string, data: object = {}) =>
  `event: ${type}\nid: ${position}\ndata: ${JSON.stringify({ type, data })}\n\n`;

test('followWatches yields the state and the chosen events of all watches with their positions, and resumes after the last', async () => {
  const { client, resumed } = await startServer(
    sends(watchEvent('p0', 'state'), watchEvent('p1', 'alert_opened')),
    refuse(503, 'SERVICE_OVERLOADED'),
    sends(watchEvent('p2', 'watch_changed', { reason: 'deleted' }), watchEvent('p3', 'alert_closed')),
  );
  const seen: string[] = [];
  for await (const { type, position } of client.followWatches({ types: ['alert_opened', 'alert_closed'] })) {
    seen.push(`${position} ${type}`);
    if (type === 'alert_closed') break;
  }
  expect(seen).toEqual(['p0 state', 'p1 alert_opened', 'p3 alert_closed']);
  expect(resumed).toEqual([undefined, 'p1', 'p1']);
});

test('followWatches of one watch begins after a position and ends with its deletion', async () => {
  const { client, resumed } = await startServer(
    sends(watchEvent('8', 'progress'), watchEvent('9', 'watch_changed', { reason: 'deleted' })),
  );
  const seen: string[] = [];
  for await (const { position } of client.followWatches({ watchId: 'ID', after: '7' })) seen.push(position);
  expect([seen, resumed]).toEqual([['8', '9'], ['7']]);
});

test('followWatches ends if the watch is deleted while the connection is broken, and throws for an unknown one', async () => {
  const { client } = await startServer(
    sends(watchEvent('8', 'progress')),
    refuse(404, 'WATCH_NOT_FOUND'),
    refuse(404, 'WATCH_NOT_FOUND'),
  );
  const seen: string[] = [];
  const follow = async () => {
    for await (const { position } of client.followWatches({ watchId: 'ID', after: '7' })) seen.push(position);
  };
  await follow();
  expect(seen).toEqual(['8']);
  await expect(follow()).rejects.toMatchObject({ code: 'WATCH_NOT_FOUND' });
});
