import { beforeEach, expect, test } from 'vitest';
import {
  IdempotencyKeyReusedError,
  MaxJobsReachedError,
  NotLiveError,
  WatchpostError,
} from '../../../core/errors.ts';
import type { Job } from '../../../core/records/job.ts';
import { createIdempotently } from '../../../core/job/accept-job.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { holdProbes as holdProbesOf } from '../../support/hold-probes.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

let world: World;
let probes: number;
beforeEach(() => {
  world = createWorld();
  probes = 0;
  const { probe } = world.c.streams;
  world.c.streams.probe = (...given) => {
    probes += 1;
    return probe(...given);
  };
});

const create = (key: string | undefined, fields: Record<string, unknown> = {}, caller = 'harbour') => {
  const request = monitorRequest(fields);
  return createIdempotently({ key, kind: 'monitor', request }, caller, world.c, (idempotency) =>
    createMonitor(request, caller, world.c, idempotency),
  );
};
const holdProbes = () => holdProbesOf(world.c);
const active = () => world.c.jobs.countActive('harbour');

test('a repeated request creates no second job and does not probe the stream', async () => {
  const job = await create('once');
  const again = await create('once');
  expect(again.run_id).toBe(job.run_id);
  expect(probes).toBe(1);
  expect(await active()).toBe(1);
});

test('a replay returns the current state of the job, also if all slots are taken', async () => {
  const job = await create('once');
  await cancelJob(job.run_id, 'harbour', world.c);
  for (let made = 0; made < 10; made += 1) await create(undefined);
  expect(await create('once')).toMatchObject({ run_id: job.run_id, status: 'stopped' });
  await expect(create('twice')).rejects.toThrow(MaxJobsReachedError);
});

test('a request with explicit defaults or another order of fields is the same request', async () => {
  const job = await create('once', { interval_seconds: 10 });
  const request = Object.fromEntries(Object.entries(monitorRequest({ interval_seconds: '10' })).toReversed());
  const again = await createIdempotently(
    { key: 'once', kind: 'monitor', request },
    'harbour',
    world.c,
    () => {
      throw new Error('created twice');
    },
  );
  expect(again.run_id).toBe(job.run_id);
});

test('an idempotency key refuses another request, or the same for another type of job', async () => {
  await create('once');
  await expect(create('once', { condition: 'a train' })).rejects.toThrow(IdempotencyKeyReusedError);
  const digest = { key: 'once', kind: 'digest', request: monitorRequest() } as const;
  await expect(createIdempotently(digest, 'harbour', world.c, () => create(undefined))).rejects.toThrow(
    IdempotencyKeyReusedError,
  );
  expect(await active()).toBe(1);
});

test('two callers can use the same idempotency key', async () => {
  const job = await create('once');
  const other = await create('once', { condition: 'a train' }, 'airport');
  expect(other.run_id).not.toBe(job.run_id);
});

test('two concurrent requests with one key create one job', async () => {
  const [first, second] = await Promise.all([create('once'), create('once')]);
  expect(first?.run_id).toBe(second?.run_id);
  expect(await active()).toBe(1);
  expect(world.executions.size).toBe(1);
});

test('two concurrent requests with one key create one job if one slot is left', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);

  const [first, second] = await Promise.all([create('once'), create('once')]);

  expect(first?.run_id).toBe(second?.run_id);
  expect(await active()).toBe(10);
  await expect(create('twice')).rejects.toThrow(MaxJobsReachedError);
});

test('requests with one key that wait for their probes at the last slot create one job, and others are refused immediately', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const probing = holdProbes();

  const both = [create('once'), create('once')];
  await probing.arrived(2);
  await expect(create('another')).rejects.toThrow(MaxJobsReachedError);
  await expect(create(undefined)).rejects.toThrow(MaxJobsReachedError);
  await expect(create('once', { condition: 'a train' })).rejects.toThrow(IdempotencyKeyReusedError);
  probing.pass(1);
  probing.pass(0);

  const [first, second] = await Promise.all(both);
  expect(second).toEqual(first);
  expect(await active()).toBe(10);
  expect(world.executions.size).toBe(10);
});

test('the last slot stays reserved for the other request if one request fails its probe', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const probing = holdProbes();
  const [failing, passing] = [create('once'), create('once')];
  await probing.arrived(2);

  probing.fail(0);
  await expect(failing).rejects.toThrow(NotLiveError);
  await expect(create(undefined)).rejects.toThrow(MaxJobsReachedError);
  probing.pass(1);

  const job = await passing;
  expect(await create('once')).toEqual(job);
  expect(await active()).toBe(10);
});

test('the last slot is free again if both requests fail their probes', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const { probe } = world.c.streams;
  const probing = holdProbes();
  const both = Promise.allSettled([create('once'), create('once')]);
  await probing.arrived(2);
  probing.fail(1);
  probing.fail(0);
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);

  world.c.streams.probe = probe;
  await create('once', { condition: 'a train' });
  expect(await active()).toBe(10);
});

test.each([
  ['the slots are full by then', undefined],
  ['its own probe fails', new WatchpostError('NOT_LIVESTREAM', 'Stream is offline', 'Try later.')],
  ['its own probe fails for an unexpected reason', new TypeError('odd')],
])('a request replays the job that a concurrent request created if %s', async (_, refusal) => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const { findByIdempotencyKey: findIdempotent } = world.c.jobs;
  let winner: Job | undefined;
  world.c.jobs.findByIdempotencyKey = async (...given) => {
    world.c.jobs.findByIdempotencyKey = findIdempotent;
    const known = await findIdempotent(...given);
    winner = await create('once');
    if (refusal) {
      await cancelJob(winner.run_id, 'harbour', world.c);
      world.script.probe = refusal;
    }
    return known;
  };

  const job = await create('once');

  expect(job.run_id).toBe(winner?.run_id);
  expect(await active()).toBe(refusal ? 9 : 10);
});

test('a request replays the job that a concurrent request created while the stream was probed', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const { probe } = world.c.streams;
  let winner: Job | undefined;
  world.c.streams.probe = async (...given) => {
    world.c.streams.probe = probe;
    winner = await create('once');
    return probe(...given);
  };

  expect((await create('once')).run_id).toBe(winner?.run_id);
  expect(await active()).toBe(10);
});

test('an idempotency key refuses another request whose slot a concurrent request with the same key took', async () => {
  for (let made = 0; made < 9; made += 1) await create(undefined);
  const { findByIdempotencyKey: findIdempotent } = world.c.jobs;
  world.c.jobs.findByIdempotencyKey = async (...given) => {
    world.c.jobs.findByIdempotencyKey = findIdempotent;
    await create('once', { condition: 'a train' });
    return findIdempotent('harbour', 'unused', given[2]);
  };

  await expect(create('once')).rejects.toThrow(IdempotencyKeyReusedError);
});

test('one of two different concurrent requests with one key is accepted', async () => {
  const results = await Promise.allSettled([create('once'), create('once', { condition: 'a train' })]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: expect.any(IdempotencyKeyReusedError),
  });
});

test('an idempotency key whose creation failed can be used again', async () => {
  world.script.probe = new WatchpostError('NOT_LIVESTREAM', 'Stream is offline', 'Try later.');
  await expect(create('once')).rejects.toThrow('offline');
  world.script.probe = undefined;
  expect((await create('once', { condition: 'a train' })).status).toBe('pending');
});

test('an idempotency key creates no second job after the first has expired, and itself expires after a day', async () => {
  const job = await create('once');
  await cancelJob(job.run_id, 'harbour', world.c);
  world.advance(3601);
  await expect(create('once')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
  world.advance(86_400);
  expect((await create('once')).run_id).not.toBe(job.run_id);
});

test('left out makes a job each time', async () => {
  expect((await create(undefined)).run_id).not.toBe((await create(undefined)).run_id);
});
