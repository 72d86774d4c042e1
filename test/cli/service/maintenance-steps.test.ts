import { expect, test } from 'vitest';
import { startMaintenance } from '../../../cli/service/maintenance.ts';
import { revokedKeySeconds } from '../../../core/ports/callers.ts';
import { addSeconds } from '../../../core/time.ts';
import { start } from '../../contract/records.ts';
import { createWorld } from '../../support/world.ts';

test('maintenance sweeps watches, media and revoked keys every minute, each by the age at which it expires', async () => {
  const world = createWorld();
  const timers: { fire: () => void; delayMs: number }[] = [];
  const sweptBefore: Date[] = [];
  const mediaSweptBefore: Date[] = [];
  const watchesSweptAt: Date[] = [];
  const stop = await startMaintenance({
    core: { ...world.c, now: () => start },
    jobs: world.jobs,
    keys: { sweep: async (before) => sweptBefore.push(before) },
    media: { sweep: async (before) => mediaSweptBefore.push(before) },
    watchStore: {
      sweep: async (now) => {
        watchesSweptAt.push(now);
        return 0;
      },
    },
    deliveries: { sweep: async () => 0 },
    executions: { resume: async () => undefined },
    motionReferences: { prune: () => 0 },
    setTimer: (fire, delayMs) => {
      timers.push({ fire, delayMs });
      return () => undefined;
    },
    log: world.c.log,
  });
  expect(sweptBefore).toEqual([]);

  for (const minute of [1, 2]) {
    expect(timers.at(-1)?.delayMs).toBe(60_000);
    timers.at(-1)?.fire();
    await expect.poll(() => sweptBefore).toHaveLength(minute);
  }

  await stop();
  expect(watchesSweptAt).toEqual([start, start]);
  // A job of a day, the wait for its model, its retention, and an hour.
  expect(mediaSweptBefore[0]).toEqual(addSeconds(start, -(86_400 + 0 + 3600 + 3600)));
  expect(sweptBefore[0]).toEqual(addSeconds(start, -revokedKeySeconds));
});
