import type { InputMode } from '../../core/records/capture.ts';
import type { ReplayCheck, Playback } from './play.ts';
import { oneLine, type Terminal } from '../terminal.ts';

/** Settings of a replay that a sweep varies. */
export type ReplayVariant = { interval_seconds: number; input_mode: InputMode };

/** Result of a replay as `--json` prints it. Times in seconds from the beginning of the recording. */
export type ReplayResult = ReplayVariant & {
  /** Length of the recording, and of the part that was played before an interrupt. */
  recording_seconds: number;
  played_seconds: number;
  interrupted: boolean;
  checks: ReplayCheck[];
  alerts: {
    condition_id: string;
    opened_seconds: number;
    closed_seconds: number | null;
    explanation: string;
  }[];
  /** Share of the played time that was watched, 0 to 1. */
  coverage: number;
  /** Duration from which a visit is sure to be seen, by what is known of the recording. */
  shortest_visit_seconds: number;
  model: string;
  model_calls: number;
  /** Verdicts of earlier replays that were used again, of `model_calls`. */
  remembered_verdicts: number;
  skipped_checks: number;
  tokens: { input_tokens: number; output_tokens: number };
  /**
   * US dollars by list prices for the recording, a day and a month of it; `null` if the price of the model is not
   * known.
   */
  cost: { recording_usd: number; day_usd: number; month_usd: number } | null;
  failures: string[];
};

const daySeconds = 86_400;
const daysPerMonth = 30;

/** Returns the result of a playback. `usd`: the price of its tokens. */
export function toResult(
  variant: ReplayVariant,
  played: Playback,
  facts: {
    model: string;
    remembered: number;
    usd: number | null;
    recordingSeconds: number;
    interrupted: boolean;
  },
): ReplayResult {
  const { usd } = facts;
  const perDay = played.playedSeconds === 0 ? 0 : daySeconds / played.playedSeconds;
  return {
    ...variant,
    recording_seconds: round(facts.recordingSeconds),
    played_seconds: round(facts.interrupted ? played.playedSeconds : facts.recordingSeconds),
    interrupted: facts.interrupted,
    checks: played.checks.map((check) => ({ ...check, seconds: round(check.seconds) })),
    alerts: played.alerts.map(({ condition_id, opened_seconds, closed_seconds, explanation }) => ({
      condition_id,
      opened_seconds: round(opened_seconds),
      closed_seconds: closed_seconds === null ? null : round(closed_seconds),
      explanation,
    })),
    coverage: played.coverage,
    shortest_visit_seconds: played.shortestVisitSeconds,
    model: facts.model,
    model_calls: played.modelCalls,
    remembered_verdicts: facts.remembered,
    skipped_checks: played.checks.filter(({ skipped }) => skipped).length,
    tokens: played.tokens,
    cost:
      usd === null
        ? null
        : { recording_usd: usd, day_usd: usd * perDay, month_usd: usd * perDay * daysPerMonth },
    failures: [...new Set(played.failures)],
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Formats a time of a recording, such as `1:02:03`. */
export function formatTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, '0'));
  return whole < 3600
    ? `${minutes}:${rest}`
    : `${parts[0]}:${minutes}:${rest}`.replace(`${hours}:`, `${parts[0]}:`);
}

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
