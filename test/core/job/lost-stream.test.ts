import { expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import { jobStats } from '../../../core/job/present-job.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

let world: World;

/** Runs a monitor of five minutes whose captures succeed until `fails` returns an error, by their count. */
async function run(fails: (captures: number) => Error | undefined) {
  world = createWorld();
  const { capture } = world.c.streams;
  let captures = 0;
  world.c.streams.capture = async (...input) => {
    const error = fails((captures += 1));
    if (error) throw error;
    return capture(...input);
  };
  const request = monitorRequest({ monitor_duration_seconds: 300, interval_seconds: 10 });
  const { run_id: jobId } = await createMonitor(request, 'harbour', world.c);
  await world.runToEnd(await world.begin({ run_id: jobId, generation: 0 }));
  const job = (await world.jobs.get(jobId, world.clock.now))!;
  return { captures, stats: jobStats(job, world.clock.now) };
}

const refused = new StreamFetchError('Check the password.', 'Refused', { accessRefused: true });

test('a monitor tries a refused password once more, and its end names the cause', async () => {
  const { captures, stats } = await run((count) => (count > 2 ? refused : undefined));
  expect(captures).toBe(4);
  expect(stats).toMatchObject({
    reason: 'stream_lost',
    failed_captures: 2,
    error: {
      message: 'Refused',
      remediation:
        'The stream gave no new picture for more than 60 s. Check the password. Then start a new job.',
    },
  });
});

test('a monitor whose password is refused once runs to its end', async () => {
  const { stats } = await run((count) => (count === 3 ? refused : undefined));
  expect(stats).toMatchObject({ reason: 'max_duration_reached', failed_captures: 1 });
});
