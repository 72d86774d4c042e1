import type { InputMode } from '../records/capture.ts';

/** Price of a model: USD per token, and its tokens of a frame and of a second of video (`null`: no video). */
export type ForecastPrice = {
  input: number;
  output: number;
  pictureTokens: number;
  videoTokensPerSecond: number | null;
};

export type Forecast = {
  model_calls_per_day: number;
  usd_per_day: number | null;
  usd_per_month: number | null;
};

/** Tokens of prompt and schema, and of an answer, as measured with Nova Lite. */
const promptTokens = 450;
const answerTokens = 60;
const clipSeconds = 3;
const daysPerMonth = 30;

/** Forecasts the cost of checking all day. `price`: `null` if unknown; 0 per token for a local model. */
export function forecastCost(
  { interval_seconds, input_mode }: { interval_seconds: number; input_mode: InputMode },
  price: ForecastPrice | null,
): Forecast {
  const calls = Math.ceil(86_400 / interval_seconds);
  const usd = price === null ? null : calls * priceCheck(input_mode, price);
  return {
    model_calls_per_day: calls,
    usd_per_day: usd === null ? null : roundCents(usd),
    usd_per_month: usd === null ? null : roundCents(usd * daysPerMonth),
  };
}

function priceCheck(
  mode: InputMode,
  { input, output, pictureTokens, videoTokensPerSecond }: ForecastPrice,
): number {
  const frame = mode === 'clip' ? 0 : pictureTokens;
  const clip = mode === 'frames' ? 0 : clipSeconds * (videoTokensPerSecond ?? pictureTokens);
  return (promptTokens + frame + clip) * input + answerTokens * output;
}

function roundCents(usd: number): number {
  return Math.round(usd * 100) / 100;
}
