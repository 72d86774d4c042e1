import type { BuiltFunction } from './build-functions.ts';

/** Bytes by function, as they were recorded. */
export type RecordedSizes = Record<string, number>;

export type SizeReport = { lines: string[]; tooLarge: string[] };

/** A bundle may be this much larger than recorded: what a cold start loads grows only on purpose. */
const mostGrowth = 0.05;

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
    tooLarge: compared.filter(({ growth }) => growth > mostGrowth).map(({ name }) => name),
  };
}

function percent(growth: number): string {
  if (growth === Infinity) return 'not recorded';
  return `${growth >= 0 ? '+' : ''}${(growth * 100).toFixed(1)} %`;
}
