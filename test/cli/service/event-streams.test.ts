import { EventSource } from 'eventsource';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEvents } from '../../support/api/event-stream.ts';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/** Event streams of a started service, read by a public library over a connection that breaks. */

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;

beforeAll(async () => {
  stream = await startLoop('testsrc2=size=320x180:rate=5');
  service = await startService(dataDir);
});

afterAll(async () => {
  await stream.close();
  await service.kill('SIGTERM');
});

function monitorBody(fields: Record<string, unknown> = {}) {
  return {
    stream_url: stream.url,
    condition: 'The picture is not black',
    input_mode: 'frames',
    interval_seconds: 5,
    monitor_duration_seconds: 11,
    max_triggers: null,
    enable_prefilter: false,
    ...fields,
  };
}

function headers() {
  return {
    authorization: `Bearer ${service.apiKey}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  };
}

async function postStream(fields: Record<string, unknown> = {}) {
  const response = await fetch(`${service.baseUrl}/live-monitor`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(monitorBody(fields)),
  });
  return openEvents(response);
}

/** Returns all events of an EventSource until it stops reconnecting. */
function listen(url: string, onEvent: (heard: string[]) => void) {
  const heard: { name: string; id: string; envelope: any }[] = [];
  const answers: (number | undefined)[] = [];
  const source = new EventSource(url, {
    fetch: (address, init) => fetch(address, { ...init, headers: { ...headers(), ...init.headers } }),
  });
  for (const name of ['started', 'progress', 'triggered', 'summary', 'stopped', 'error']) {
    source.addEventListener(name, (event: Event) => {
      // The stream's "error" event and the library's have the same name; only the stream's has data.
      if (!(event instanceof MessageEvent)) return;
      heard.push({ name, id: event.lastEventId, envelope: JSON.parse(event.data) });
      onEvent(heard.map((each) => each.name));
    });
  }
  source.addEventListener('error', (event) => {
    if (!(event instanceof MessageEvent)) answers.push(event.code);
  });
  return { source, heard, answers };
}

test('an EventSource whose connection breaks resumes, gets each event once, and stops at the end', async () => {
  const made = await postStream();
  expect(made.response.status).toBe(200);
  const { data } = (await made.next())!.data;
  // The client that created the job disconnects, and the job continues.
  await made.leave();

  const { hostname, port, pathname } = new URL(data.events_url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const { source, heard, answers } = listen(`http://127.0.0.1:${proxy.port}${pathname}`, (names) => {
    if (names.length === 3) proxy.cut();
  });
  await expect.poll(() => source.readyState, { timeout: 25_000 }).toBe(EventSource.CLOSED);
  const accepted = proxy.accepted();
  await proxy.close();

  const log = (await service.call('GET', `/jobs/${data.job_id}/events`)).body.events;
  expect(heard.map(({ id }) => Number(id))).toEqual(log.map((event: any) => event.data.sequence));
  expect(heard.map(({ envelope }) => envelope.type)).toEqual(log.map((event: any) => event.type));
  expect(heard[0]?.name).toBe('started');
  expect(heard.filter(({ name }) => name === 'triggered').length).toBeGreaterThanOrEqual(2);
  expect(heard.at(-1)).toMatchObject({
    name: 'stopped',
    envelope: { data: { reason: 'max_duration_reached' } },
  });
  // Connections: one broken, one closed after "stopped", and one with 204.
  expect(answers).toEqual([undefined, undefined, 204]);
  expect(accepted).toBeGreaterThanOrEqual(2);
});

test('a caller can open ten event streams, and SIGTERM ends them within seconds', async () => {
  const first = await postStream({ interval_seconds: 60, monitor_duration_seconds: 120 });
  const { job_id: jobId } = (await first.next())!.data.data;

  const open = () => fetch(`${service.baseUrl}/jobs/${jobId}/events`, { headers: headers() });
  const readers = (await Promise.all(Array.from({ length: 9 }, open))).map(openEvents);
  expect(readers.map(({ response }) => response.status)).toEqual(Array(9).fill(200));
  const refused = await open();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED' } });

  await readers.pop()?.leave();
  await expect
    .poll(async () => {
      const again = await open();
      if (again.status === 200) readers.push(openEvents(again));
      return again.status;
    })
    .toBe(200);

  const rests = [first, ...readers].map((reader) => reader.rest());
  const stoppedAt = Date.now();
  expect(await service.kill('SIGTERM')).toBe(0);
  // Less than the time that responses have.
  expect(Date.now() - stoppedAt).toBeLessThan(4_500);
  // Closed cleanly, so that each reader can resume.
  await Promise.all(rests);
});
