import { expect, test } from 'vitest';
import { runVisits } from './virtual-visits.ts';

const seeds = Array.from({ length: 12 }, (_, seed) => seed);

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
