import { compareWithGoals, type GoalLine, type Raced } from './goals.ts';
import type { Result } from './race.ts';

/** Formats measured values and goals as Markdown. `machine` describes the machine and the date. */
export function formatReport(raced: Raced[], machine: string[]): string {
  const lines = raced.flatMap(compareWithGoals);
  const missed = lines.filter((line) => !isMet(line));
  return [
    '# Results of `npm run bench -- capture`',
    '',
    ...machine.flatMap((line) => [line, '']),
    `${lines.length - missed.length} of ${lines.length} goals met.`,
    '',
    ...table(
      ['stream', 'mode', 'what', 'measured', 'goal', ''],
      lines.map((line) => [
        line.stream,
        line.mode,
        line.what,
        shown(line.measured),
        shown(line.goal),
        isMet(line) ? 'met' : '**missed**',
      ]),
    ),
    '',
    ...table(
      ['stream', 'mode', 'by', 'wall ms', 'processor ms', 'age s', 'worst age s'],
      raced.flatMap(({ source, mode, results }) =>
        Object.entries(results).map(([contender, result]) => [
          source.name,
          mode,
          contender === 'watchpost' ? contender : `ffmpeg, ${contender} flags`,
          ...toCells(result),
        ]),
      ),
    ),
    '',
  ].join('\n');
}

function isMet({ measured, goal }: GoalLine): boolean {
  return measured <= goal;
}

function toCells({ wallMs, cpuMs, ageSeconds, worstAgeSeconds }: Result): string[] {
  return [wallMs.toFixed(0), cpuMs.toFixed(0), ageSeconds.toFixed(2), worstAgeSeconds.toFixed(2)];
}

/** Formats whole milliseconds, and ratios and seconds with two decimals. */
function shown(value: number): string {
  return value >= 20 ? value.toFixed(0) : String(Number(value.toFixed(2)));
}

function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
