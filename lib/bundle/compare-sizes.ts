import type { BuiltFunction } from './build-functions.ts';

export type RecordedSizes = Record<string, number>;

/** Result of a comparison: one line per function, and the names that exceed the limit. */
export type SizeReport = { lines: string[]; tooLarge: string[] };

/** Maximum growth of a bundle. Larger growth must be recorded explicitly, because it slows cold starts. */
const maxGrowth = 0.05;

/** Compares built sizes with recorded ones. A function without a record counts as too large. */
export function compareSizes(built: BuiltFunction[], recorded: RecordedSizes): SizeReport {
  const compared = built.map(({ name, bytes }) => {
    const before = recorded[name];
    const growth = before === undefined ? Infinity : bytes / before - 1;
    return { name, bytes, growth };
  });
  return {
    lines: compared.map(
      ({ name, bytes, growth }) =>
        `${name.padEnd(10)} ${String(Math.round(bytes / 1000)).padStart(6)} kB  ${percent(growth)}`,
    ),
    tooLarge: compared.filter(({ growth }) => growth > maxGrowth).map(({ name }) => name),
  };
}

function percent(growth: number): string {
  if (growth === Infinity) return 'not recorded';
  return `${growth >= 0 ? '+' : ''}${(growth * 100).toFixed(1)} %`;
}
