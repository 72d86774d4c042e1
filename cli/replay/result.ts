import type { InputMode } from '../../core/records/capture.ts';
import type { ReplayCheck, Playback } from './play.ts';

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
