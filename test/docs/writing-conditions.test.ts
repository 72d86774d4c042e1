import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { estimate } from '../../cli/cost/estimate.ts';
import { defaultVideoModelId } from '../../adapters/vision/bedrock/model-families.ts';

const page = readFileSync('docs/use/writing-conditions.md', 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));

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
    const row = rows.find((cells) => cells[1] === mode);
    const { lines, total } = await priceHour(mode, 10);
    const tokens = lines.find(({ item }) => item === 'Model, input')?.quantity ?? 0;
    expect(row?.slice(4, 6)).toEqual([String(Math.round(tokens / 360)), dollars(total)]);
  },
);

test('docs/use/writing-conditions.md states the cost of its examples', async () => {
  const examples = rows.filter((cells) => /^\d+ s$/.test(cells[3] ?? '') && cells[2] !== '');
  const documented = examples.flatMap(([, , mode, interval = '', , all, most]) =>
    mode === 'frames' || mode === 'clip'
      ? [{ mode, seconds: Number.parseInt(interval), all, most } as const]
      : [],
  );
  expect(documented.length).toBe(4);
  for (const { mode, seconds, all, most } of documented) {
    const [hour, quiet] = await Promise.all([priceHour(mode, seconds), priceHour(mode, seconds, 0.8)]);
    expect([all, most], `${mode}, ${seconds} s`).toEqual([dollars(hour.total), dollars(quiet.total)]);
  }
});
