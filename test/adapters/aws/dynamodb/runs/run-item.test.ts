import { describe, expect, test } from 'vitest';
import { itemTtls } from '../../../../../adapters/aws/dynamodb/table/item-ttls.ts';
import { putMoments } from '../../../../../adapters/aws/dynamodb/runs/moment-items.ts';
import { newMoment } from '../../../../contract/moment-store.contract.ts';
import { readRunItems, toItems } from '../../../../../adapters/aws/dynamodb/runs/run-item.ts';
import type { Item } from '../../../../../adapters/aws/dynamodb/table/table.ts';
import { newDigest, newJob } from '../../../../contract/records.ts';
import { createMonitor } from '../../../../support/create-jobs.ts';
import { createWorld, monitorRequest } from '../../../../support/world.ts';
import { newCreation, toStored, withLargestState } from '../../../../contract/watch-records.ts';

const rules = { ttls: itemTtls(), hasBus: false };

/** Size that DynamoDB bills: names and values. */
function sizeOf(item: Item): number {
  const values = Object.entries(item).filter(([, value]) => value !== undefined);
  return values.reduce((sum, [name, value]) => {
    return (
      sum + name.length + (value instanceof Uint8Array ? value.length : Buffer.byteLength(String(value)))
    );
  }, 0);
}

describe('items of a run', () => {
  test.each([
    ['monitor', newJob()],
    ['digest', newDigest()],
    ['watch', toStored(newCreation())],
  ])('a %s is read from its items as it was stored', (_, run) => {
    const { meta, run: progress } = toItems(run, [], rules);
    expect(readRunItems(meta, progress)).toEqual(run);
  });

  test('the item that ticks write of a watch with the largest state takes less than 4 kB, and 16 before it is packed', () => {
    const watch = toStored(withLargestState(newCreation()));
    const { run } = toItems(watch, [], rules);
    expect(Buffer.byteLength(JSON.stringify([watch.state, watch.sight]))).toBeLessThan(16_000);
    expect(sizeOf(run)).toBeLessThan(4000);
  });

  test('the item that each tick of a monitor writes takes less than a kilobyte, which costs two write units', async () => {
    const world = createWorld({ maxJobSeconds: 86_400 });
    const request = { ...monitorRequest({ monitor_duration_seconds: 86_400, max_triggers: null }) };
    const { run_id: jobId } = await createMonitor(request, 'harbour', world.c);
    let step = await world.begin({ run_id: jobId, generation: 0 });
    for (let tick = 0; tick < 30; tick += 1) step = await world.tick(step);
    const { run } = toItems((await world.jobs.get(jobId, world.clock.now))!, [], rules);
    expect(sizeOf(run)).toBeLessThan(1024);
  });

  test('the configuration of a job is in the item that its ticks do not write', () => {
    const labels = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(64));
    const job = newJob();
    const short = sizeOf(toItems(job, [], rules).run);
    expect(sizeOf(toItems({ ...job, labels }, [], rules).run)).toBe(short);
  });
});

describe('the item of the moments of a capture', () => {
  const explain = (index: number) =>
    `${index}: Ein Lastwagen blockiert das Tor, daneben stehen zwei Männer in Warnwesten. `
      .repeat(3)
      .slice(0, 200);
  const newMoments = (frames: number, conditions: number) =>
    Array.from({ length: frames }, (_, frame) => {
      const verdicts = Array.from({ length: conditions }, (_each, index) => ({
        condition_id: `a-condition-with-a-long-id-${index}`,
        triggered: index % 2 === 0,
        explanation: explain(10 * frame + index),
      }));
      return newMoment(100, { verdicts, scene: explain(frame).slice(0, 80) }, 3 * frame);
    });

  test.each([
    ['of one frame and one condition', 1, 1, 1024],
    ['of one frame and eight conditions', 1, 8, 2048],
    ['of four frames and three conditions', 4, 3, 2048],
    ['of the largest capture', 4, 8, 3072],
  ])('a moment item %s takes the kilobytes of its cost', (_, frames, conditions, bytes) => {
    const [write] = putMoments(newMoments(frames, conditions));
    if (write?.kind !== 'put') throw new Error('No item');
    expect(sizeOf(write.item)).toBeLessThanOrEqual(bytes);
  });
});
