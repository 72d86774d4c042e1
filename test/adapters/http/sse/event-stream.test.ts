import { beforeEach, describe, expect, test, vi } from 'vitest';
import { pollingSignals } from '../../../../core/ports/event-sessions.ts';
import { createApp } from '../../../../adapters/http/app.ts';
import { createEventSessions } from '../../../../adapters/embedded/web/event-sessions.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import { NotLiveError, TransientError } from '../../../../core/errors.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import type { WorkflowState } from '../../../../core/records/workflow.ts';
import { createWorld, type World } from '../../../support/world.ts';
import { openEvents } from '../../../support/api/event-stream.ts';

let world: World;
let key: string;
beforeEach(async () => {
  world = createWorld();
  key = await keyFor('harbour');
});

const monitor = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship enters the lock' };
const sse = { accept: 'text/event-stream' };

async function keyFor(caller: string): Promise<string> {
  const minted = mintKey({ caller, scopes: ['jobs'], label: null }, world.c.now(), world.c);
  await world.c.keys.put(minted.key);
  return minted.text;
}

async function call(method: string, path: string, headers: Record<string, string> = {}, body?: unknown) {
  return createApp(world.c).request(`/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function create(fields = {}): Promise<string> {
  const response = await call('POST', '/live-monitor', {}, { ...monitor, ...fields });
  return ((await response.json()) as { job_id: string }).job_id;
}

/** Job and the next steps of its workflow. */
async function begun(fields = {}): Promise<{ jobId: string; step: WorkflowState }> {
  const jobId = await create(fields);
  return { jobId, step: await world.begin({ run_id: jobId, generation: 0 }) };
}

async function stream(jobId: string, headers: Record<string, string> = {}, query = '') {
  return openEvents(await call('GET', `/jobs/${jobId}/events${query}`, { ...sse, ...headers }));
}

/** Two checks, the second one an alert that ends the job: started, progress, progress, triggered, stopped. */
async function watchedToItsEnd(): Promise<string> {
  const { jobId, step } = await begun();
  world.script.verdicts = [false, true];
  await world.tick(await world.tick(step));
  return jobId;
}

const names = ['started', 'progress', 'progress', 'triggered', 'stopped'];

describe('a stream', () => {
  test('a stream sends the whole log with numbered events of the contract, and closes after stopped', async () => {
    const reader = await stream(await watchedToItsEnd());
    const events = await reader.rest();

    expect(reader.response.status).toBe(200);
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream');
    expect(reader.response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(events.map(({ event }) => event)).toEqual(names);
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    expect(reader.retries).toEqual([2000]);
  });

  test('a stream sends the envelope of webhooks, with the image in it', async () => {
    const jobId = await watchedToItsEnd();
    const events = await (await stream(jobId)).rest();

    expect(events[0]?.data).toEqual({
      type: 'job_started',
      timestamp: expect.stringMatching(/Z$/),
      source_url: monitor.stream_url,
      data: expect.objectContaining({
        job_id: jobId,
        sequence: 1,
        events_url: `http://watchpost.test/api/jobs/${jobId}/events`,
      }),
    });
    const { data } = events[3]!.data;
    expect(Buffer.from(data.frame_b64, 'base64')).toEqual(Buffer.from([255, 216, 2]));
    expect(data).not.toHaveProperty('frame_key');
    expect(data).not.toHaveProperty('frame_url');
  });

  test('a stream of a failed job ends with error, and its resumption sends stopped', async () => {
    const { jobId, step } = await begun();
    world.script.verdicts = Array.from({ length: 5 }, () => new VisionError('Try again.'));
    let next = step;
    for (let check = 0; check < 5; check += 1) next = await world.tick(next);
    const events = await (await stream(jobId)).rest();
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { data: { code: 'VLM_ERROR' } } });

    const resumed = await (await stream(jobId, { 'last-event-id': events.at(-1)!.id })).rest();
    expect(resumed.map(({ event }) => event)).toEqual(['stopped']);
  });

  test('a heartbeat is sent after 15 seconds without events, and again after 15 more', async () => {
    const { jobId } = await begun();
    const reader = await stream(jobId);
    await reader.next();
    const silentSince = world.clock.now.getTime();

    expect(await reader.comment()).toBe('heartbeat');
    expect(world.clock.now.getTime() - silentSince).toBe(15_000);
    expect(await reader.comment()).toBe('heartbeat');
    expect(world.clock.now.getTime() - silentSince).toBe(30_000);
    await reader.leave();
  });

  test('a stream opens immediately, before the job has begun', async () => {
    const reader = await stream(await create());
    expect(await reader.comment()).toBe('heartbeat');
    expect(reader.retries).toEqual([2000]);
    await reader.leave();
  });

  test('a stream closes at the end of its session and resumes after the last event', async () => {
    world.c.eventStreams.sessionSeconds = 840;
    const { jobId } = await begun();
    const openedAt = world.clock.now.getTime();
    const events = await (await stream(jobId)).rest();

    expect(events.map(({ event }) => event)).toEqual(['started']);
    expect((world.clock.now.getTime() - openedAt) / 1000).toBeCloseTo(840, 0);
  });

  test('a stream that wakes each 5 s ends within 30 s of the revocation of its key, with an error outside of the log', async () => {
    world.c.eventStreams.signals = pollingSignals(async () => world.advance(5), 5_000);
    const { jobId } = await begun();
    const reader = await stream(jobId);
    await reader.next();
    const [minted] = await world.c.keys.list({ caller: 'harbour', limit: 1 });
    await world.c.keys.revoke(minted!.hash, world.clock.now);
    const revokedAt = world.clock.now.getTime();

    const error = { code: 'UNAUTHORIZED', remediation: expect.stringContaining('Last-Event-ID') };
    expect(await reader.rest()).toMatchObject([{ event: 'error', id: '', data: { error } }]);
    expect(await world.c.jobs.get(jobId, world.clock.now)).toMatchObject({ status: 'running', sequence: 1 });
    expect(world.clock.now.getTime() - revokedAt).toBeLessThanOrEqual(30_000);
  });

  test('a store failure closes the stream, is logged but not sent, and the stream can resume', async () => {
    const { jobId } = await begun();
    const { get } = world.c.runs;
    const reader = await stream(jobId);
    await reader.next();
    world.c.runs.get = () => Promise.reject(new TransientError('disk full at /secret'));

    expect(await reader.rest()).toEqual([]);
    expect(world.logged.join('\n')).toContain('Event stream closed');
    world.c.runs.get = get;
    await call('DELETE', `/jobs/${jobId}`);
    const resumed = await (await stream(jobId, { 'last-event-id': '1' })).rest();
    expect(resumed.map(({ event }) => event)).toEqual(['stopped']);
  });

  test('a stream ends if its job is removed before a slow reader has read it', async () => {
    const jobId = await watchedToItsEnd();
    const reader = await stream(jobId);
    await reader.next();
    world.advance(3601);
    // The page in memory is still sent; nothing follows.
    await reader.rest();
    expect((await call('GET', `/jobs/${jobId}/events`, sse)).status).toBe(404);
  });
});

describe('where a stream begins', () => {
  test.each([
    ['Last-Event-ID', { 'last-event-id': '3' }, '', ['4', '5']],
    ['after', {}, '?after=2', ['3', '4', '5']],
    ['Last-Event-ID before after', { 'last-event-id': '4' }, '?after=1', ['5']],
    ['the parameter of a polyfill', {}, '?after=1&lastEventId=3', ['4', '5']],
    ['nothing', {}, '', ['1', '2', '3', '4', '5']],
    ['an empty id', { 'last-event-id': '' }, '?after=3', ['4', '5']],
    ['garbage', { 'last-event-id': 'three' }, '', ['1', '2', '3', '4', '5']],
    ['a negative id', { 'last-event-id': '-1' }, '', ['1', '2', '3', '4', '5']],
    ['an id beyond the log', { 'last-event-id': '6' }, '', ['1', '2', '3', '4', '5']],
    ['an id beyond all numbers', { 'last-event-id': '9'.repeat(40) }, '', ['1', '2', '3', '4', '5']],
    ['after beyond the log', {}, '?after=77', ['1', '2', '3', '4', '5']],
  ])('a stream starts after the right event with %s', async (_, headers, query, ids) => {
    const reader = await stream(await watchedToItsEnd(), headers, query);
    expect((await reader.rest()).map(({ id }) => id)).toEqual(ids);
  });

  test('a reader with the whole log of an ended job gets 204, so that an EventSource stops', async () => {
    const response = await call('GET', `/jobs/${await watchedToItsEnd()}/events`, {
      ...sse,
      'last-event-id': '5',
    });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
  });

  test('a reader with all events of a running job waits', async () => {
    const { jobId } = await begun();
    const reader = await stream(jobId, { 'last-event-id': '1' });
    await call('DELETE', `/jobs/${jobId}`);
    expect((await reader.rest()).map(({ event, id }) => [event, id])).toEqual([['stopped', '2']]);
  });

  test.each(['?after=-1', '?after=x'])('the query %s returns 422', async (query) => {
    expect((await call('GET', `/jobs/${await create()}/events${query}`, sse)).status).toBe(422);
  });
});

describe('which representation', () => {
  test.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream; charset=utf-8', true],
    ['text/event-stream, */*', true],
    ['application/json, text/event-stream', true],
    ['text/event-stream;q=0.5, */*;q=0.1', true],
    ['text/*', true],
    ['*/*', false],
    ['text/*, */*', false],
    ['application/json', false],
    ['application/json, text/event-stream;q=0.9', false],
    ['*/*, text/event-stream;q=0.1', false],
    ['text/event-stream;q=0', false],
    ['text/html', false],
    ['', false],
  ])('the header "Accept: %s" selects the representation', async (accept, isStream) => {
    const response = await call('GET', `/jobs/${await watchedToItsEnd()}/events`, { accept });
    expect(response.headers.get('content-type')).toBe(isStream ? 'text/event-stream' : 'application/json');
    expect(response.headers.get('vary')).toBe('Accept');
    await response.body?.cancel();
  });

  test('a session is opened with the job and the reconnection flag, so that its stale session can be replaced', async () => {
    const open = vi.spyOn(world.c.eventStreams.sessions, 'open');
    const { jobId } = await begun();
    await stream(jobId);
    await stream(jobId, { 'last-event-id': '1' });

    expect(open.mock.calls).toEqual([
      ['harbour', { jobId, isReconnect: false }],
      ['harbour', { jobId, isReconnect: true }],
    ]);
  });

  test('HEAD returns the headers and opens no session', async () => {
    const { jobId } = await begun();
    for (let asked = 0; asked < 11; asked += 1) {
      const response = await call('HEAD', `/jobs/${jobId}/events`, sse);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
    }
  });

  test('a page of JSON holds at most 4 MB, and the next page continues', async () => {
    const { jobId, step } = await begun();
    const { events } = world.c.runs;
    await world.tick(step);
    const long = 'ö'.repeat(500_000);
    world.c.runs.get = async () => ({ ...(await ownJob(jobId)), sequence: 9 });
    world.c.runs.events = async (id, after, limit, now) => {
      const [progress] = (await events(id, 0, 2, now)).filter(({ type }) => type === 'progress');
      return Array.from({ length: Math.min(limit, 9 - after) }, (_, index) => ({
        ...progress!,
        sequence: after + index + 1,
        data: { ...progress!.data, explanation: long },
      })) as never;
    };
    const first = await call('GET', `/jobs/${jobId}/events`);
    const text = await first.text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_000_000);
    expect(JSON.parse(text)).toMatchObject({ next_after: 3, has_more: true });
    const second = (await (await call('GET', `/jobs/${jobId}/events?after=6`)).json()) as any;
    expect(second).toMatchObject({ next_after: 9, has_more: false });
  });
});

async function ownJob(jobId: string) {
  const { jobs } = await world.c.jobs.list({ caller: 'harbour', limit: 1, offset: 0 }, world.c.now());
  if (jobs[0]?.run_id !== jobId) throw new Error('not there');
  return jobs[0];
}

describe('POST /live-monitor with Accept: text/event-stream', () => {
  test('errors before the first event are ordinary responses and release the session', async () => {
    for (let asked = 0; asked < 11; asked += 1) {
      world.script.probe = new NotLiveError('Give a live URL.');
      const response = await call('POST', '/live-monitor', sse, monitor);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'NOT_LIVESTREAM' } });
    }
    world.script.probe = undefined;
    expect((await call('POST', '/live-monitor', sse, { ...monitor, condition: '' })).status).toBe(422);
    const accepted = await call('POST', '/live-monitor', sse, monitor);
    expect(accepted.status).toBe(200);
    await accepted.body?.cancel();
  });

  test('a caller with too many streams creates no job', async () => {
    world.c.eventStreams.sessions = createEventSessions(1);
    const reader = await stream((await begun()).jobId);
    const refused = await call('POST', '/live-monitor', sse, monitor);

    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await world.c.jobs.countActive('harbour')).toBe(1);
    await reader.leave();
  });
});

describe('readers', () => {
  test('the eleventh stream of a caller returns 429 until one ends, and other callers are not affected', async () => {
    const { jobId } = await begun();
    const readers = await Promise.all(Array.from({ length: 10 }, () => stream(jobId)));
    const refused = await call('GET', `/jobs/${jobId}/events`, sse);

    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('15');
    expect(await refused.json()).toMatchObject({
      error: { code: 'RATE_LIMITED', remediation: expect.stringContaining('10 event streams') },
    });
    expect((await call('GET', `/jobs/${jobId}/events`)).status).toBe(200);

    await readers[0]!.leave();
    const again = await stream(jobId);
    expect((await again.next())?.event).toBe('started');

    const others = { authorization: `Bearer ${await keyFor('lighthouse')}` };
    expect((await call('GET', `/jobs/${jobId}/events`, { ...sse, ...others })).status).toBe(404);
    const own = openEvents(await call('POST', '/live-monitor', { ...sse, ...others }, monitor));
    expect(own.response.status).toBe(200);
    await Promise.all([own, again, ...readers].map((reader) => reader.leave()));
  });

  test('a stream that ends with its job releases its session too', async () => {
    world.c.eventStreams.sessions = createEventSessions(1);
    const jobId = await watchedToItsEnd();
    await (await stream(jobId)).rest();
    expect((await (await stream(jobId)).rest()).length).toBe(5);
  });

  test('a page is read only after the previous one was sent, so that a slow reader costs no memory', async () => {
    const { jobId, step } = await begun({ interval_seconds: 5 });
    await world.runToEnd(step);
    const pages: number[] = [];
    const { events } = world.c.runs;
    world.c.runs.events = async (...asked) => {
      const page = await events(...asked);
      pages.push(page.length);
      return page;
    };
    const reader = await stream(jobId);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pages).toEqual([]);
    for (let taken = 0; taken < 100; taken += 1) await reader.next();
    expect(pages).toEqual([100]);
    expect((await reader.rest()).at(-1)?.event).toBe('stopped');
    expect(pages).toEqual([100, 22]);
  });

  test('a reader that disconnects while it waits ends its loop immediately, and others continue', async () => {
    const { jobId, step } = await begun();
    const [leaving, staying] = [await stream(jobId), await stream(jobId)];
    await leaving.next();
    await staying.next();
    let looks = 0;
    const { get } = world.c.runs;
    world.c.runs.get = async (id, now) => {
      looks += 1;
      return get(id, now);
    };
    const waiting = leaving.next();
    await leaving.leave();
    expect(await waiting).toBeUndefined();
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(looks).toBe(before);

    world.script.verdicts = [true];
    await world.tick(step);
    expect((await staying.rest()).map(({ event }) => event)).toEqual(['progress', 'triggered', 'stopped']);
  });

  test('all streams end when the service shuts down', async () => {
    const sessions = createEventSessions(10);
    world.c.eventStreams.sessions = sessions;
    const { jobId } = await begun();
    const reader = await stream(jobId);
    await reader.next();
    const rest = reader.rest();
    await sessions.endAll();

    expect(await rest).toEqual([]);
    expect(await (await stream(jobId)).rest()).toEqual([]);
  });
});
