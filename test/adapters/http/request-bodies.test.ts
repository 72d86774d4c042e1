import { beforeEach, expect, test } from 'vitest';
import { createRequestBodies } from '../../../adapters/http/request-bodies.ts';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';

const frame = { frame_b64: 'x', question: 'What is there?' };
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

let world: World;
let timers: Set<() => void>;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  timers = new Set();
  world.c.bodies = createRequestBodies({
    setTimer: (fire) => {
      timers.add(fire);
      return () => timers.delete(fire);
    },
  });
  call = await createHttpCaller(world);
});

/** Body whose last part is sent when `finish` is called. */
function heldBack(text: string) {
  let finish = () => {};
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(text));
      finish = () => controller.close();
    },
  });
  return { stream, finish: () => finish() };
}

const post = (path: string, body: unknown, length?: number, caller = call) =>
  caller('POST', path, body, length === undefined ? {} : { 'content-length': `${length}` });

test('a request with a frame can have 5 MB', async () => {
  expect((await post('/analyze-frame', heldBack('x').stream, 5_000_001)).status).toBe(413);
  expect((await post('/analyze-frame', { ...frame, frame_b64: 'A'.repeat(4_900_000) })).status).toBe(400);
});

test('a body that stops arriving returns 408 and releases its bytes', async () => {
  const bodies = Array.from({ length: 3 }, () => heldBack('{'));
  const answers = bodies.map(({ stream }) => post('/analyze-frame', stream, 5_000_000));
  await settled();
  expect((await post('/analyze-frame', frame, 2_000_000)).status).toBe(429);

  for (const fire of timers) fire();

  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatchObject({ status: 408, body: { error: { code: 'REQUEST_TIMEOUT' } } });
    expect(answer.headers.get('connection')).toBe('close');
  }
  expect((await post('/analyze-frame', frame)).status).toBe(400);
  expect(timers.size).toBe(0);
});

test('the announced bytes of a caller are limited before they arrive, separately from other callers', async () => {
  const bodies = Array.from({ length: 3 }, () => heldBack(JSON.stringify(frame)));
  const answers = bodies.map(({ stream }) => post('/analyze-frame', stream, 5_000_000));
  await settled();

  const refused = await post('/analyze-frame', heldBack('').stream, 5_000_000);

  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.body.error.remediation).toContain('16 MB');
  const other = await createHttpCaller(world, 'airport');
  expect((await post('/analyze-frame', frame, undefined, other)).status).toBe(400);
  for (const { finish } of bodies) finish();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 400, 400]);
  expect((await post('/analyze-frame', frame, 100)).status).toBe(400);
});

test('the bytes of a body without a length are counted as they arrive', async () => {
  const bodies = Array.from({ length: 3 }, () => heldBack('x'.repeat(4_900_000)));
  const answers = bodies.map(({ stream }) => post('/analyze-frame', stream));
  await settled();
  expect((await post('/analyze-frame', heldBack('x'.repeat(4_900_000)).stream)).status).toBe(429);
  for (const { finish } of bodies) finish();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([422, 422, 422]);
});

test('the bodies of all callers together are limited', async () => {
  const callers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => createHttpCaller(world, name)));
  const bodies: ReturnType<typeof heldBack>[] = [];
  const answers = callers.flatMap((caller) =>
    Array.from({ length: 3 }, () => {
      const body = heldBack(JSON.stringify(frame));
      bodies.push(body);
      return post('/analyze-frame', body.stream, 5_000_000, caller);
    }),
  );
  await settled();
  for (const { finish } of bodies) finish();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(12);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
});

test('the body is not read without a key or without an endpoint for it', async () => {
  let read = 0;
  const unread = () => new ReadableStream({ pull: () => void (read += 1) }, { highWaterMark: 0 });
  expect((await call('POST', '/analyze-frame', unread(), { authorization: '' })).status).toBe(401);
  expect((await call('POST', '/nowhere', unread())).status).toBe(404);
  expect(read).toBe(0);
});
