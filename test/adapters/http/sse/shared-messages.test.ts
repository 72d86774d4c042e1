import { expect, test, vi } from 'vitest';
import { jobMessages } from '../../../../adapters/http/sse/job-messages.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { createWorld, monitorRequest } from '../../../support/world.ts';

test('readers of one host share a message and its picture, and those of another host have its links', async () => {
  const world = createWorld();
  const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
  world.script.verdicts = [true];
  await world.tick(await world.begin({ run_id: jobId, generation: 0 }));
  const job = (await world.c.jobs.get(jobId, world.c.now()))!;
  const events = await world.c.jobs.events(jobId, 0, 100, new Date(0));
  const pictures = vi.spyOn(world.c.media, 'get');
  const reads = { get: async () => job, events: async () => events };
  const here = { ...world.c, eventStreams: { ...world.c.eventStreams, reads } };
  const elsewhere = { ...here, baseUrl: 'https://other.example/api' };
  const collect = async (deps: typeof here) => {
    let text = '';
    const reading = { job, after: 0, keyHash: '', signal: new AbortController().signal };
    for await (const message of jobMessages(reading, deps)) text += message;
    return text;
  };

  const all = await Promise.all([here, here, elsewhere].map(collect));

  expect(all[1]).toBe(all[0]);
  expect(all.map((text) => /"events_url":"([^"]+)"/.exec(text)?.[1])).toEqual([
    `http://watchpost.test/api/jobs/${jobId}/events`,
    `http://watchpost.test/api/jobs/${jobId}/events`,
    `https://other.example/api/jobs/${jobId}/events`,
  ]);
  expect(pictures).toHaveBeenCalledTimes(2);
});
