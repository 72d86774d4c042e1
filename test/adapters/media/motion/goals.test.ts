import { describe, expect, test } from 'vitest';
import { captureArguments } from '../../../../adapters/media/ffmpeg/graphs.ts';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import { asInAJob, previousFrame } from '../../../../bench/motion/detectors.ts';
import { eventScene } from '../../../../bench/motion/event-scenes.ts';
import { evaluate } from '../../../../bench/motion/evaluate.ts';
import { stillScene } from '../../../../bench/motion/still-scenes.ts';
import { thumbnailFilter, thumbnailsOf } from '../../../../bench/motion/thumbnails.ts';
import type { Scene } from '../../../../bench/motion/scene.ts';

/** A few clips of `npm run bench:motion` with seeds of their own: enough to notice when a change of the pre-filter costs what it is there for. */
const seed = 1001;
const clips = await draw([
  stillScene('noise 15', seed),
  stillScene('small clock', seed),
  stillScene('flicker', seed),
  stillScene('overlay, noise, compression', seed),
  eventScene('comes and leaves', seed),
  eventScene('colour of equal brightness', seed),
  eventScene('person', seed),
  eventScene('clock overlay', seed),
]);
const ours = evaluate(clips, () => asInAJob(compareMotion));

test('at least 90 % of the looks at still scenes with noise, flicker and overlays are spared', () => {
  const { hits, of } = ours.savings({});
  expect(of).toBeGreaterThan(150);
  expect(hits / of).toBeGreaterThanOrEqual(0.9);
});

describe('of what happens', () => {
  test('everything of 1 % of the picture and above is seen in its tick', () => {
    const { hits, of } = ours.recall({ shares: (share) => share >= 0.01 });
    expect(of).toBeGreaterThan(30);
    expect(hits).toBe(of);
  });

  test('at least 95 % at half a percent', () => {
    const { hits, of } = ours.recall({ shares: (share) => share === 0.005 });
    expect(hits / of).toBeGreaterThanOrEqual(0.95);
  });
});

test('a difference to the previous frame does worse on the same clips', () => {
  const plain = evaluate(clips, previousFrame);
  expect(plain.savings({}).hits).toBeLessThan(ours.savings({}).hits);
  expect(plain.recall({}).hits).toBeLessThan(ours.recall({}).hits);
});

test('the thumbnails of these clips are made as those of captures', () => {
  const wanted = { mode: 'frames', clipSeconds: 3 } as const;
  const limits = { timeoutMs: 1000, clipBytes: 1 };
  const graph = captureArguments({ kind: 'pipe', format: 'mpegts' }, wanted, limits, 'clip.mp4').join(' ');
  expect(graph).toContain(thumbnailFilter);
});

/** Two at a time. */
async function draw(scenes: Scene[]) {
  const rest = scenes.entries();
  const drawn: { scene: Scene; half: 'held out'; pictures: Uint8Array[] }[] = [];
  const work = async (): Promise<void> => {
    for (const [at, scene] of rest)
      drawn[at] = { scene, half: 'held out', pictures: await thumbnailsOf(scene) };
  };
  await Promise.all([work(), work()]);
  return drawn;
}
