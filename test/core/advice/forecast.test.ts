import { expect, test } from 'vitest';
import { forecastCost } from '../../../core/advice/forecast.ts';

const price = { input: 0.06e-6, output: 0.24e-6, pictureTokens: 800, videoTokensPerSecond: 288 };

test('a forecast multiplies the checks of a day by the price of a check', () => {
  const { model_calls_per_day, usd_per_day, usd_per_month } = forecastCost(
    { interval_seconds: 10, input_mode: 'frames' },
    price,
  );
  expect(model_calls_per_day).toBe(8640);
  expect(usd_per_day).toBeCloseTo(8640 * (1250 * 0.06e-6 + 60 * 0.24e-6), 2);
  expect(usd_per_month).toBeCloseTo(30 * 8640 * (1250 * 0.06e-6 + 60 * 0.24e-6), 1);
});

test('a clip counts its seconds, and hybrid the frame too', () => {
  const asked = { interval_seconds: 60 };
  const clip = forecastCost({ ...asked, input_mode: 'clip' }, { ...price, input: 1 }).usd_per_day ?? 0;
  const hybrid = forecastCost({ ...asked, input_mode: 'hybrid' }, { ...price, input: 1 }).usd_per_day ?? 0;
  expect(hybrid - clip).toBeCloseTo(1440 * 800, 0);
});

test('an unknown price has no forecast in dollars', () => {
  expect(forecastCost({ interval_seconds: 10, input_mode: 'frames' }, null)).toEqual({
    model_calls_per_day: 8640,
    usd_per_day: null,
    usd_per_month: null,
  });
});
