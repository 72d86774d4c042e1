import { expect, test } from 'vitest';
import { VirtualWatch } from './virtual-watch.ts';

const day = 86_400_000;
/** Daylight saving begins in New York two days later. */
const startAt = Date.parse('2026-03-06T12:00:00Z');

test.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'two virtual days of a watch agree with the slow model of its rules at each tick (seed %i)',
  (seed) => {
    const summary = new VirtualWatch(seed, startAt, 60).run(startAt + 2 * day);
    expect(summary.ticks).toBeGreaterThan(1);
  },
);
