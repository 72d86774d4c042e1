import { describe, expect, test } from 'vitest';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import { asInAJob, drawClips, evaluate, previousFrame } from '../../../../bench/motion/clips.ts';
import { eventScene, stillScene } from '../../../../bench/motion/scenes.ts';

/** Clips of `npm run bench -- motion` with other seeds: enough to detect a regression of the pre-filter. */
const seed = 1001;
const scenes = [
  stillScene('small clock', seed),
  stillScene('flicker', seed),
  stillScene('overlay, noise, compression', seed),
  eventScene('colour of equal brightness', seed),
  eventScene('person', seed),
  eventScene('clock overlay', seed),
];
const clips = await drawClips(scenes, 2);
const watchpost = evaluate(clips, () => asInAJob(compareMotion));

test('the pre-filter skips at least 90 % of checks of still scenes with noise, flicker and overlays', () => {
  const { hits, of } = watchpost.savings();
  expect(of).toBeGreaterThan(115);
  expect(hits / of).toBeGreaterThanOrEqual(0.9);
});

describe('recall of motion detection', () => {
  test('every event of at least 1 % of the frame is detected in its tick', () => {
    const { hits, of } = watchpost.recall((share) => share >= 0.01);
    expect(of).toBeGreaterThan(22);
    expect(hits).toBe(of);
  });

  test('the pre-filter detects at least 95 % of events of 0.5 % of the frame', () => {
    const { hits, of } = watchpost.recall((share) => share === 0.005);
    expect(hits / of).toBeGreaterThanOrEqual(0.95);
  });
});

test('a difference to the previous frame performs worse on the same clips', () => {
  const plain = evaluate(clips, previousFrame);
  expect(plain.savings().hits).toBeLessThan(watchpost.savings().hits);
  expect(plain.recall().hits).toBeLessThan(watchpost.recall().hits);
});
