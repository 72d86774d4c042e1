import { expect, test } from 'vitest';
import { computeSlope } from '../../bench/memory/slope.ts';
import { runVirtualLoad } from '../../bench/memory/virtual-load.ts';
import type { Progress } from '../../bench/memory/virtual-load.ts';

test('the slope is the growth per hour, whatever the noise around it', () => {
  const samples = [0.5, 1, 1.5, 2, 2.5, 3].map((hours, index) => ({
    hours,
    heapMb: 30 + 2 * hours + (index % 2 === 0 ? 0.1 : -0.1),
    residentMb: 100,
  }));
  expect(computeSlope(samples, ({ heapMb }) => heapMb)).toBeCloseTo(2, 0);
  expect(computeSlope(samples, ({ residentMb }) => residentMb)).toBe(0);
  expect(computeSlope(samples.slice(0, 1), ({ heapMb }) => heapMb)).toBe(0);
});

test('a virtual half hour of four jobs and watches has a check of each at each interval, and new jobs follow those that end', async () => {
  const samples: Progress[] = [];
  await runVirtualLoad({
    count: 4,
    hours: 0.5,
    intervalSeconds: 30,
    sample: (_, progress) => samples.push({ ...progress }),
  });
  expect(samples).toHaveLength(1);
  expect(samples[0]!.checks).toBeGreaterThan(200);
  expect(samples[0]!.jobsMade).toBeGreaterThanOrEqual(9);
});
