import { expect, test } from 'vitest';
import { count } from '../counted.ts';
import { runAbuse } from './abuse.ts';

/**
 * Latencies are a result of the run, not asserted: the machine is shared. `npm run bench -- abuse` holds them to their
 * goal.
 */
test('one key that abuses the service leaves its memory, its connections and other callers alone', async (context) => {
  const result = await runAbuse({ creations: 200 });
  const { answers, memory, connections, webhooks, neighbor } = result;

  expect(memory.peak).toBeLessThan(512);
  // Ten concurrent calls, as many aborted ones whose connections are closing, and those of the other caller.
  expect(connections).toBeLessThan(30);
  // The start and the end of the job, and a resend per minute.
  expect(webhooks).toBeLessThanOrEqual(10);
  expect(neighbor.meanwhile.calls).toBeGreaterThan(20);
  expect(neighbor.meanwhile.failed).toBeLessThan(neighbor.meanwhile.calls / 20);

  expect(answers.batches[400]).toBe(5);
  for (const { 200: accepted } of [answers.creations, answers.stalls, answers.slowBodies])
    expect(accepted).toBeUndefined();
  for (const { 429: refused = 0 } of [answers.creations, answers.resends])
    expect(refused).toBeGreaterThan(50);
  // Three of them fit into the bytes that a caller may have in memory.
  expect(answers.slowBodies[408] ?? 0).toBeLessThanOrEqual(3);
  count(context, { abuse: describe(result) });
}, 180_000);

function describe({
  memory,
  busy,
  connections,
  neighbor: { before, meanwhile },
}: Awaited<ReturnType<typeof runAbuse>>): string {
  return `one key: memory ${memory.before} to ${memory.peak} MB, ${connections} connections, ${busy} of a core; p99 of another caller ${meanwhile.p99Ms} ms, alone ${before.p99Ms} ms`;
}
