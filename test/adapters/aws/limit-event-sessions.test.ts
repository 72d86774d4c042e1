import { expect, test } from 'vitest';
import { createEventSessions } from '../../../adapters/embedded/web/event-sessions.ts';
import { countOpenSessions, limitEventSessions } from '../../../adapters/aws/limit-event-sessions.ts';
import { RateLimitedError } from '../../../core/errors.ts';

function limited(max: number, perCaller = 100) {
  const measured: string[] = [];
  const sessions = limitEventSessions({
    sessions: createEventSessions(perCaller),
    withLimit: createEventSessions,
    max,
    pool: 'all',
    measurements: { add: (name) => void measured.push(name) },
    random: () => 0.999,
  });
  return { sessions, measured };
}

test('all callers share the maximum, and each opened stream is counted', async () => {
  const { sessions, measured } = limited(60);
  for (let index = 0; index < 60; index += 1) await sessions.open(`caller-${index}`);

  await expect(sessions.open('one-more')).rejects.toThrow(RateLimitedError);

  expect(measured).toEqual(Array.from({ length: 60 }, () => 'EventStreams'));
});

test('a session that ends makes room, and a rejected one keeps none', async () => {
  const { sessions } = limited(1, 1);
  const first = await sessions.open('harbour');
  await expect(sessions.open('airport')).rejects.toMatchObject({ retryAfterSeconds: 30 });
  await first?.end();
  expect(first?.signal.aborted).toBe(true);
  expect(await sessions.open('airport')).toBeDefined();
});

test('the limit of a caller is checked first and takes no place of others', async () => {
  const { sessions } = limited(2, 1);
  expect(await sessions.open('harbour')).toBeDefined();
  expect(await sessions.open('harbour')).toBeUndefined();
  expect(await sessions.open('airport')).toBeDefined();
});

test('the open event streams of a deployment are the sum over all shards of both pools', async () => {
  const opened: string[] = [];
  const withLimit = (perShard: number) => {
    const shards = createEventSessions(perShard);
    return {
      perCaller: perShard,
      open: async (name: string) => {
        const session = await shards.open(name);
        if (session) opened.push(name);
        return session;
      },
    };
  };
  const pooled = (pool: 'all' | 'creations', max: number) =>
    limitEventSessions({
      sessions: createEventSessions(100),
      withLimit,
      max,
      pool,
      measurements: { add: () => undefined },
      random: Math.random,
    });
  const [readers, creations] = [pooled('all', 60), pooled('creations', 5)];
  for (let index = 0; index < 60; index += 1) await readers.open(`caller-${index}`);
  // Readers at their limit leave room for creations that stream.
  for (let index = 0; index < 5; index += 1) await creations.open(`caller-${index}`);
  await expect(creations.open('one-more')).rejects.toThrow(RateLimitedError);

  const count = async (name: string) => opened.filter((each) => each === name).length;
  expect(await countOpenSessions(60, count)).toBe(65);
});
