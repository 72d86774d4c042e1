import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEventSessions } from '../../../../adapters/embedded/web/event-sessions.ts';
import { createApp } from '../../../../adapters/http/app.ts';
import { listen, type HttpServer } from '../../../../cli/service/http-server.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { openEvents } from '../../../support/api/event-stream.ts';
import { createWorld, monitorRequest, type World } from '../../../support/world.ts';

/** Readers on real sockets, and a log larger than all buffers on the way: 400 alerts of a megabyte each. */

const alerts = 400;
const pictureBytes = 1_000_000;

let world: World;
let server: HttpServer;
let path: string;
let key: string;
let picturesRead: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  world = createWorld();
  const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  key = minted.text;
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);
  path = `/api/jobs/${job.run_id}/events`;
  world.c.runs.get = async () => ({ ...job, status: 'completed', sequence: alerts });
  world.c.runs.events = async (jobId, after, limit) =>
    Array.from({ length: Math.min(limit, alerts - after) }, (_, index) => ({
      type: 'watch_triggered' as const,
      job_id: jobId,
      sequence: after + index + 1,
      timestamp: job.created_at,
      data: {
        condition: 'a ship',
        triggered: true as const,
        explanation: 'It is there.',
        prefilter_skipped: false,
        frame_key: 'captures/a/1.jpg',
        captured_at: job.created_at,
        triggers_fired: 1,
      },
    }));
  picturesRead = 0;
  world.c.media.get = async () => {
    picturesRead += 1;
    return new Uint8Array(pictureBytes);
  };
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function serveWith(idleMs?: number): Promise<void> {
  server = await listen('127.0.0.1', 0, idleMs);
  const app = createApp(world.c);
  server.serve((request) => app.fetch(request));
}

/** Opens the stream and never reads from it. */
async function readerThatNeverReads(): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  return socket;
}

async function firstEvent() {
  const reader = openEvents(
    await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    }),
  );
  const event = await reader.next();
  await reader.leave();
  return { status: reader.response.status, event };
}

test('a reader that never reads fills the buffers of its connection only, and does not delay others', async () => {
  await serveWith();
  await readerThatNeverReads();
  await expect.poll(() => picturesRead).toBeGreaterThan(0);
  let before = -1;
  await expect.poll(() => before === (before = picturesRead), { interval: 150, timeout: 10_000 }).toBe(true);
  // Linux buffers some megabytes of a loopback connection, of 530 MB in the log.
  expect(picturesRead).toBeLessThan(30);

  expect((await firstEvent()).event).toMatchObject({ event: 'triggered', id: '1' });
});

test('an idle connection is closed and its session released', async () => {
  world.c.eventStreams.sessions = createEventSessions(1);
  await serveWith(1500);
  await readerThatNeverReads();
  await expect.poll(() => picturesRead).toBeGreaterThan(0);
  expect((await firstEvent()).status).toBe(429);
  await expect.poll(async () => (await firstEvent()).status, { timeout: 10_000, interval: 200 }).toBe(200);
});
