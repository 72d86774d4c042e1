import { expect, test } from 'vitest';
import { publishToReceivers } from '../../../core/event/publish-events.ts';

const unused = async () => {
  throw new Error('not expected');
};

/** Dependencies that count the reads of the job. */
function countedDeps(hasBus: boolean) {
  const reads = { count: 0 };
  const jobs = {
    getIncludingExpired: async () => {
      reads.count += 1;
      return undefined;
    },
  };
  const queue = { send: unused, hasBus };
  const log = { debug: unused, info: unused, warning: unused, error: unused };
  return { deps: { jobs, queue, log, now: () => new Date(0) } as never, reads };
}

test.each([
  { receivers: 'neither webhook nor event bus', webhook_url: null, hasBus: false, expected: 0 },
  { receivers: 'a webhook', webhook_url: 'https://receiver.example', hasBus: false, expected: 1 },
  { receivers: 'an event bus', webhook_url: null, hasBus: true, expected: 1 },
])('a job with $receivers is read $expected times to publish its events', async (given) => {
  const { deps, reads } = countedDeps(given.hasBus);
  await publishToReceivers({ job_id: 'a', webhook_url: given.webhook_url }, deps);
  expect(reads.count).toBe(given.expected);
});
