import { expect, test } from 'vitest';
import { runVisits } from './virtual-visits.ts';

/** The last four have intervals in which the newest frame advances by a segment more. */
const seeds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 35, 39, 42, 51];

test.each(seeds)(
  'no motion is in quiet time, each sure visit opens one alert, and all active time has a class (seed %i)',
  { timeout: 60_000 },
  async (seed) => {
    const summary = await runVisits(seed, 400);
    expect(summary.visits).toBeGreaterThan(5);
    expect(summary.required).toBeGreaterThan(0);
    expect(summary.quietSeconds).toBeGreaterThan(0);
  },
);
