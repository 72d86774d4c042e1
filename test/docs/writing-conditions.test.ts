import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { estimate } from '../../cli/cost/estimate.ts';
import { defaultVideoModelId } from '../../adapters/vision/bedrock/model-families.ts';

const page = readFileSync('docs/use/writing-conditions.md', 'utf8');
const priceHour = (mode: 'frames' | 'clip' | 'hybrid', intervalSeconds: number, skippedShare = 0) =>
  estimate({
    mode,
    intervalSeconds,
    skippedShare,
    clipSeconds: 3,
    alertsPerHour: 1,
    model: defaultVideoModelId,
  });
const dollars = (amount: number) => `$${amount.toFixed(3)}`;

test.each(['frames', 'clip', 'hybrid'] as const)(
  'docs/use/writing-conditions.md states the cost of a check with %s',
  async (mode) => {
    const { lines, total } = await priceHour(mode, 10);
    const tokens = lines.find(({ item }) => item === 'Model, input')?.quantity ?? 0;
    const line = page.split('\n').find((each) => each.startsWith(`- \`${mode}\`: `));
    expect(line).toContain(
      `; ${Math.round(tokens / 360)} tokens per check, ${dollars(total)} per stream-hour`,
    );
  },
);

test('docs/use/writing-conditions.md states the cost of its examples', async () => {
  const examples = page.matchAll(
    /: `(frames|clip)`, (\d+) s.*; (\S+) per stream-hour, (\S+) with 80 % skipped$/gm,
  );
  const documented = [...examples].map(([, mode, seconds, all, most]) => ({
    mode: mode === 'clip' ? ('clip' as const) : ('frames' as const),
    seconds: Number(seconds),
    all,
    most,
  }));
  expect(documented.length).toBe(4);
  for (const { mode, seconds, all, most } of documented) {
    const [hour, quiet] = await Promise.all([priceHour(mode, seconds), priceHour(mode, seconds, 0.8)]);
    expect([all, most], `${mode}, ${seconds} s`).toEqual([dollars(hour.total), dollars(quiet.total)]);
  }
});
