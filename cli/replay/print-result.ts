import { oneLine, type Terminal } from '../terminal.ts';
import { formatTime, type ReplayResult } from './result.ts';

/** Prints the alerts of a replay with their times, then coverage, calls and cost. */
export function printResult(result: ReplayResult, terminal: Terminal): void {
  for (const { condition_id, opened_seconds, closed_seconds, explanation } of result.alerts) {
    const closed = closed_seconds === null ? 'open at the end' : formatTime(closed_seconds);
    terminal.print(`${formatTime(opened_seconds)} - ${closed}  ${condition_id}  ${oneLine(explanation)}`);
  }
  if (result.alerts.length === 0) terminal.print('No alerts.');
  terminal.print(summarize(result));
  for (const failure of result.failures) terminal.note(`The model failed: ${failure}`);
  if (result.interrupted)
    terminal.note(
      `Interrupted at ${formatTime(result.played_seconds)} of ${formatTime(result.recording_seconds)}. The verdicts are kept: the next replay begins where the model was not asked yet.`,
    );
}

const sweepHeads = [
  'interval',
  'mode',
  'calls',
  'skipped',
  'alerts',
  'coverage',
  'input tokens',
  'a day',
  'a month',
];

/** Prints a row per combination of settings. */
export function printSweep(results: readonly ReplayResult[], terminal: Terminal): void {
  const rows = tabulateSweep(results);
  const widths = sweepHeads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    terminal.print(row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}

/** Returns the heads and a row per combination of settings. */
export function tabulateSweep(results: readonly ReplayResult[]): string[][] {
  const rows = results.map((result) => [
    `${result.interval_seconds} s`,
    result.input_mode,
    `${result.model_calls}`,
    `${result.skipped_checks}`,
    `${result.alerts.length}`,
    percent(result.coverage),
    `${result.tokens.input_tokens}`,
    dollars(result.cost?.day_usd),
    dollars(result.cost?.month_usd),
  ]);
  return [sweepHeads, ...rows];
}

/** Summarizes checks, coverage and cost in one line. */
export function summarize(result: ReplayResult): string {
  const remembered =
    result.remembered_verdicts === 0 ? '' : `, ${result.remembered_verdicts} of them remembered`;
  return [
    `${formatCount(result.alerts.length, 'alert')} in ${formatTime(result.played_seconds)}`,
    `coverage ${percent(result.coverage)}`,
    `sure visits from ${result.shortest_visit_seconds} s`,
    `${formatCount(result.model_calls, 'model call')}${remembered}, ${result.skipped_checks} skipped`,
    `${result.tokens.input_tokens} input tokens`,
    `cost a day ${dollars(result.cost?.day_usd)}, a month ${dollars(result.cost?.month_usd)}`,
  ].join('; ');
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function dollars(usd: number | undefined): string {
  return usd === undefined ? 'unknown' : `$${usd.toFixed(2)}`;
}
