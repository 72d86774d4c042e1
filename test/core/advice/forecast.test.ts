import { expect, test } from 'vitest';
import { forecastCost } from '../../../core/advice/forecast.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const price = { input: 0.06e-6, output: 0.24e-6, pictureTokens: 800, videoTokensPerSecond: 288 };

test('a forecast multiplies the checks of a day by the price of a check', () => {
  const { model_calls_per_day, usd_per_day, usd_per_month } = forecastCost(
    { interval_seconds: 10, input_mode: 'frames', judgesMoments: true, checks_to_open: 2 },
    price,
  );
  expect(model_calls_per_day).toBe(8640);
  expect(usd_per_day).toBeCloseTo(8640 * (1250 * 0.06e-6 + 60 * 0.24e-6), 2);
  expect(usd_per_month).toBeCloseTo(30 * 8640 * (1250 * 0.06e-6 + 60 * 0.24e-6), 1);
});

test('a clip counts its seconds, and hybrid the frame too', () => {
  const asked = { interval_seconds: 60, judgesMoments: true, checks_to_open: 2 };
  const clip = forecastCost({ ...asked, input_mode: 'clip' }, { ...price, input: 1 }).usd_per_day ?? 0;
  const hybrid = forecastCost({ ...asked, input_mode: 'hybrid' }, { ...price, input: 1 }).usd_per_day ?? 0;
  expect(hybrid - clip).toBeCloseTo(1440 * 800, 0);
});

test('looking back counts four frames a check, in one call if the model takes several frames, else in four', () => {
  const asked = { interval_seconds: 10, input_mode: 'frames' } as const;
  const bounds = (judgesMoments: boolean) =>
    forecastCost({ ...asked, judgesMoments, checks_to_open: 2 }, price).with_look_back;
  expect(bounds(true)).toMatchObject({ model_calls_per_day: 8640, frames_per_day: 4 * 8640 });
  expect(bounds(true).usd_per_day).toBeCloseTo(8640 * (3650 * 0.06e-6 + 240 * 0.24e-6), 2);
  expect(bounds(false)).toMatchObject({ model_calls_per_day: 4 * 8640, frames_per_day: 4 * 8640 });
  expect(bounds(false).usd_per_day).toBeCloseTo(8640 * 4 * (1250 * 0.06e-6 + 60 * 0.24e-6), 2);
});

test('looking back with clips adds one call for the earlier frames', () => {
  const asked = { interval_seconds: 60, judgesMoments: true, checks_to_open: 2 } as const;
  expect(forecastCost({ ...asked, input_mode: 'clip' }, price)).toMatchObject({
    model_calls_per_day: 1440,
    frames_per_day: 0,
    with_look_back: { model_calls_per_day: 2 * 1440, frames_per_day: 3 * 1440 },
  });
});

test('an unknown price has no forecast in dollars', () => {
  const asked = {
    interval_seconds: 10,
    input_mode: 'frames',
    judgesMoments: true,
    checks_to_open: 2,
  } as const;
  const unknown = {
    model_calls_per_day: 8640,
    max_model_calls_per_day: 86_400,
    usd_per_day: null,
    usd_per_month: null,
    max_usd_per_day: null,
  };
  expect(forecastCost(asked, null)).toEqual({
    ...unknown,
    frames_per_day: 8640,
    shortest_visit_seconds: 14,
    with_look_back: { ...unknown, frames_per_day: 4 * 8640, shortest_visit_seconds: 7 },
  });
});

test.each([1, 2])('the upper bound holds for a watch that keeps confirming after %i s', async (confirm) => {
  let step = await createWatch({ confirm, toOpen: 3 });
  const { clock } = world;
  const { capture } = world.c.streams;
  // RTSP has no segments to wait for.
  const position = { segment: null, segment_seconds: 0 };
  world.c.streams.capture = async (...given) => ({ ...(await capture(...given)), position });
  const begin = clock.now.getTime();
  const seconds = () => (clock.now.getTime() - begin) / 1000;
  let calls = 0;
  world.c.vision = {
    ...world.c.vision,
    judge: judgingEach(async () => {
      calls += 1;
      const tokens = { input_tokens: 1, output_tokens: 1 };
      return { triggered: calls % 2 === 0, explanation: 'x', tokens };
    }),
  };
  while (seconds() < 1200) {
    const { generation } = await stored();
    step = await world.tick(step.done ? await world.begin({ run_id: watchId, generation }) : step);
  }
  const asked = {
    interval_seconds: 10,
    input_mode: 'frames',
    judgesMoments: true,
    checks_to_open: 2,
  } as const;
  const { model_calls_per_day: usual, max_model_calls_per_day: most } = forecastCost(asked, price);
  expect(72 * calls).toBeGreaterThan(usual);
  expect(72 * (calls - 1)).toBeLessThanOrEqual(most);
});
