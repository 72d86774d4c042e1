import { expect, test } from 'vitest';
import { VirtualWatches } from './virtual-watches.ts';

/** Daylight saving begins in New York during the first night. */
const startMs = Date.parse('2026-03-07T12:00:00Z');

test.each([14])(
  'twelve virtual hours of the whole service, with kills, a full disk and failing receivers, agree with the slow model (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const summary = await new VirtualWatches({
      seed,
      startMs,
      days: 0.5,
      intervalSeconds: 300,
      faultRate: 12,
    }).run();
    // The numbers of a seed change with the code.
    expect(summary.ticks).toBeGreaterThan(50);
    expect(summary.kills).toBeGreaterThan(3);
    expect(summary.deliveries).toBeGreaterThan(10);
  },
);
