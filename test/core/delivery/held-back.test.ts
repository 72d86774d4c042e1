import { expect, test } from 'vitest';
import { visibilitySeconds } from '../../../functions/deliver/handler.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import type { DeliveryMessage, QueueMessage } from '../../../core/records/delivery.ts';
import { createWatching, failing, first, opened } from '../../support/watches/delivery.ts';

test('an event that is held back for the four days of a queue on AWS is received less often than its 75 times', async () => {
  const watch = await createWatching(() => failing, [{ type: 'webhook' }]);
  await watch.commit(Array.from({ length: 6 }, () => opened(first)));
  await watch.pass(1);
  const isHeld = (each: QueueMessage): each is DeliveryMessage => 'run' in each && each.sequence === 6;
  const held = watch.queued.filter(isHeld).find(({ attempt }) => attempt === 1)!;
  const [ends, receives] = [watch.deps.now().getTime() + 4 * 86_400_000, [] as number[]];
  while (watch.deps.now().getTime() < ends) {
    const outcome = await deliver(held, watch.deps);
    if (outcome.kind === 'done') break;
    receives.push(outcome.afterSeconds);
    await watch.pass(visibilitySeconds(outcome.afterSeconds));
  }
  expect(watch.sent.some(({ id }) => id.endsWith('_6'))).toBe(false);
  expect(Math.min(...receives)).toBe(1_800);
  // Its own attempts and waits take 15.
  expect(receives.length).toBeLessThan(75 - 15);
});
