import type { InputMode } from '../records/capture.ts';
import { minConfirmSeconds } from '../records/watch.ts';
import { rules } from '../rules.ts';
import { groupFrames } from '../sight/group-frames.ts';
import { shortestVisitSeconds } from '../sight/sure-visit.ts';

/** Price of a model: USD per token, and its tokens of a frame and of a second of video (`null`: no video). */
export type ForecastPrice = {
  input: number;
  output: number;
  pictureTokens: number;
  videoTokensPerSecond: number | null;
};

export type Forecast = {
  /** Calls of the interval, if nothing is skipped. */
  model_calls_per_day: number;
  /** Upper bound, with confirming checks and those that motion causes. */
  max_model_calls_per_day: number;
  /** Frames that the model gets; a clip has none. */
  frames_per_day: number;
  usd_per_day: number | null;
  usd_per_month: number | null;
  max_usd_per_day: number | null;
  shortest_visit_seconds: number;
};

/** Checks to forecast. `judgesMoments`: the model takes several frames in one call. */
type Checks = {
  interval_seconds: number;
  input_mode: InputMode;
  checks_to_open: number;
  open_after_seconds?: number;
  judgesMoments: boolean;
};

/** Scan of a stream with usual key frames, for a stream that nobody has seen yet. */
const usualScan = { distance_seconds: 2, left_out_seconds: 0 };
/** Default of `confirm_seconds`. */
const usualConfirmSeconds = 2;

/** Tokens of prompt and schema, and of an answer about one frame, as measured with Nova Lite. */
const promptTokens = 450;
const answerTokens = 60;
const clipSeconds = 3;
const daysPerMonth = 30;

/**
 * Forecasts the cost of checking all day, and that with `look_back`. `price`: `null` if unknown; 0 per token for a
 * local model.
 */
export function forecastCost(
  checks: Checks,
  price: ForecastPrice | null,
): Forecast & { with_look_back: Forecast } {
  return {
    ...forecast(checks, 0, price),
    with_look_back: forecast(checks, rules.maxEarlierMoments, price),
  };
}

/** Forecasts checks of the newest frame and so many earlier ones. */
function forecast(checks: Checks, earlier: number, price: ForecastPrice | null): Forecast {
  const { interval_seconds: interval, input_mode: mode, judgesMoments } = checks;
  const checksPerDay = Math.ceil(86_400 / interval);
  const maxChecks = Math.max(checksPerDay, 86_400 / minConfirmSeconds);
  const calls = groupFrames({ earlier }, mode, judgesMoments).length;
  const frames = earlier + (mode === 'clip' ? 0 : 1);
  const usd = price === null ? null : priceCheck({ calls, frames, answers: earlier + 1, mode }, price);
  const priced = (times: number) => (usd === null ? null : roundCents(times * usd));
  return {
    model_calls_per_day: checksPerDay * calls,
    max_model_calls_per_day: maxChecks * calls,
    frames_per_day: checksPerDay * frames,
    usd_per_day: priced(checksPerDay),
    usd_per_month: priced(checksPerDay * daysPerMonth),
    max_usd_per_day: priced(maxChecks),
    shortest_visit_seconds: shortestVisitSeconds(
      {
        lookBack: earlier > 0,
        intervalSeconds: interval,
        confirmSeconds: usualConfirmSeconds,
        checksToOpen: checks.checks_to_open,
        openAfterSeconds: checks.open_after_seconds ?? 0,
      },
      usualScan,
    ),
  };
}

export function priceCheck(
  { calls, frames, answers, mode }: { calls: number; frames: number; answers: number; mode: InputMode },
  { input, output, pictureTokens, videoTokensPerSecond }: ForecastPrice,
): number {
  const clip = mode === 'frames' ? 0 : clipSeconds * (videoTokensPerSecond ?? pictureTokens);
  return (calls * promptTokens + frames * pictureTokens + clip) * input + answers * answerTokens * output;
}

function roundCents(usd: number): number {
  return Math.round(usd * 100) / 100;
}
