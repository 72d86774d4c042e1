import { expect, test } from 'vitest';
import { createScannedFrame } from '../../../adapters/media/scan/frame-pictures.ts';
import { estimate } from '../../../cli/cost/estimate.ts';
import { addSeconds } from '../../../core/time.ts';
import { start } from '../../contract/records.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

/** An hour of a watch with the defaults, on a stream with a visit of 6 s every 28 s and a key frame every 2 s. */

const hourSeconds = 3600;
const isVisited = (seconds: number) => seconds >= 19 && (seconds - 19) % 28 < 6;

async function watchForAnHour() {
  let step = await createWatch({ toClose: 3 });
  const { script, c } = world;
  const secondsNow = () => (world.clock.now.getTime() - start.getTime()) / 1000;
  let reference = false;
  let lastSeconds = 0;
  let frames = 0;
  const { capture } = c.streams;
  c.streams.capture = async (...args) => {
    const captured = await capture(...args);
    const now = secondsNow();
    const times = Array.from({ length: 60 }, (_, index) => Math.floor(now / 2) * 2 - 2 * (60 - index));
    const scanned = times.filter((seconds) => seconds > lastSeconds && seconds < now);
    lastSeconds = now;
    const newest = isVisited(now);
    let news = reference;
    script.moved.push(newest !== reference);
    script.earlier.push(
      scanned.map((seconds) => {
        const shown = isVisited(seconds);
        const isNews = shown !== news;
        news = shown;
        const motion = { moved: shown !== reference, isNews, likeNewest: shown === newest };
        return { ...motion, changedShare: 0.1, black: false };
      }),
    );
    const at = (seconds: number) => addSeconds(start, seconds);
    return {
      ...captured,
      scan: {
        frames: scanned.map((seconds) =>
          createScannedFrame(at(seconds).getTime(), new Uint8Array(), async () =>
            Uint8Array.of(isVisited(seconds) ? 1 : 0),
          ),
        ),
        coveredSeconds: 10,
        leftOutSeconds: 0,
        distanceSeconds: 2,
      },
      frame: new Uint8Array([newest ? 1 : 0]),
    };
  };
  Object.assign(c.vision, { capabilities: { ...c.vision.capabilities, judgesMoments: true } });
  c.vision.judge = judgingEach(async ({ frame }) => {
    frames += 1;
    return {
      triggered: frame[0] === 1,
      explanation: 'Seen.',
      tokens: { input_tokens: 10, output_tokens: 2 },
    };
  });
  while (secondsNow() < hourSeconds) {
    if (step.done) step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    step = await world.tick(step);
    if (step.capture.motion === 'looked') {
      const { sight } = await stored();
      if (sight.skipped_in_a_row === 0) reference = isVisited(lastSeconds);
    }
  }
  const hours = await c.watches.hours(watchId, start, addSeconds(start, 2 * hourSeconds));
  const sum = (name: 'ticks' | 'checks' | 'model_calls' | 'alerts_opened') =>
    hours.reduce((total, { counts }) => total + counts[name], 0);
  const visits = Math.floor((hourSeconds - 25) / 28) + 1;
  return { ticks: sum('ticks'), checks: sum('checks'), opened: sum('alerts_opened'), frames, visits };
}

test('an hour with a visit of 6 s every 28 s costs at most 6 cents on AWS, and each visit is an alert', async () => {
  const { ticks, checks, frames, opened, visits } = await watchForAnHour();
  const { total } = await estimate({
    intervalSeconds: hourSeconds / ticks,
    mode: 'frames',
    clipSeconds: 3,
    skippedShare: 1 - checks / ticks,
    framesPerCheck: frames / checks,
    alertsPerHour: 0,
    model: 'amazon.nova-lite-v1:0',
  });
  expect(opened).toBe(visits);
  expect(total).toBeLessThanOrEqual(0.06);
});
