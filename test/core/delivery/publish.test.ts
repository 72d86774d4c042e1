import { beforeEach, expect, test } from 'vitest';
import { publishCreations } from '../../../core/delivery/publish.ts';
import {
  begin,
  changed,
  createChange,
  createCreation,
  newJob,
  progress,
  start,
} from '../../contract/records.ts';
import { logged, newChange, newCreation, progress as watchProgress } from '../../contract/watch-records.ts';
import { createWorld, type World } from '../../support/world.ts';

const hook = { webhook_url: 'https://receiver.example/hook' };
let world: World;

beforeEach(() => {
  world = createWorld();
});

const sent = () => world.queued.map(({ sequence }) => sequence);
const published = async (id: string) => (await world.jobs.getIncludingEnded(id))?.published;

test('a commit of a job sends its news to the queue, and a commit of checks alone waits', async () => {
  const job = newJob(hook);
  await world.c.jobs.create(createCreation(job), start);
  const checked = createChange(job, [progress]);
  await world.c.jobs.commit(checked);
  expect([sent(), await published(job.run_id)]).toEqual([[], 0]);

  const checkedJob = changed(job, checked);
  await world.c.jobs.commit(begin(checkedJob));

  expect([sent(), await published(job.run_id)]).toEqual([[2], 2]);
});

test('each hundredth check moves the position of publishing, so that an alert does not wait for a long log', async () => {
  let job = newJob(hook);
  await world.c.jobs.create(createCreation(job), start);
  for (let check = 0; check < 101; check += 1) {
    const change = createChange(job, [progress]);
    await world.c.jobs.commit(change);
    job = changed(job, change);
  }
  expect([sent(), await published(job.run_id)]).toEqual([[], 100]);
});

test('a job without a receiver needs no write for its news', async () => {
  const job = newJob();
  await world.c.jobs.create(createCreation(job), start);
  await world.c.jobs.commit(begin(job));
  expect([sent(), await published(job.run_id)]).toEqual([[], 0]);
});

test.each([
  ['is published immediately for a destination of type heartbeat', 'heartbeat', 1],
  ['waits with a destination of type webhook', 'webhook', 0],
] as const)('a check of a watch %s', async (_, type, sequence) => {
  const watches = publishCreations(world.c.watches, world.c.runs, world.c);
  const creation = newCreation();
  const [destination] = creation.config.destinations;
  creation.config.destinations = [{ ...destination!, type }];
  await watches.create({ ...creation, events: [], sequence: 0 }, start);

  const check = structuredClone(watchProgress);
  Object.assign(check.data, { prefilter_skipped: true });
  const events = logged(creation, [check], 0);
  await watches.commit(newChange(creation, { events, set: { sequence: 1 } }));

  expect((await watches.get(creation.run_id, start))?.published).toBe(sequence);
  expect(world.queuedForDestinations).toHaveLength(sequence);
});
