import { expect, test } from 'vitest';
import { runVisits } from './virtual-visits.ts';

/**
 * `npm run simulate` and its mutations take a hundred. In 27, a thing comes while a capture is under way; the last four
 * have intervals in which the newest frame advances by a segment more.
 */
const takesAll = process.env['SIMULATION_SEEDS'] === 'all';
const seeds = takesAll
  ? Array.from({ length: 100 }, (_, seed) => seed)
  : [0, 1, 2, 3, 10, 27, 35, 39, 42, 51];

test.each(seeds)(
  'no motion is in quiet time, each sure visit opens one alert, and all active time has a class (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const summary = await runVisits(seed, 400);
    expect(summary.visits).toBeGreaterThan(5);
    // A few of the hundred claim nothing about their visits.
    if (!takesAll) expect(summary.required).toBeGreaterThan(0);
    expect(summary.quietSeconds).toBeGreaterThan(0);
  },
);

test.each([3, 4, 11])(
  'each visit of the claimed length opens one alert, also if it must have held for a time (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const summary = await runVisits(seed, 400, 45);
    expect(summary.required).toBeGreaterThan(5);
  },
);
