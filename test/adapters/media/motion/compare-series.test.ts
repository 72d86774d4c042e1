import { expect, test } from 'vitest';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import { box, changeAt, clock, daylight, renderThumbnails, sensorNoise } from './scenes.ts';

/** Compares the frames after the first one as one series: the last of them is the newest. */
function compareAll([first, ...others]: Uint8Array[]) {
  const { stateWithNewReference } = compareMotion(first!, null);
  return compareMotion(others.at(-1)!, stateWithNewReference, [], others.slice(0, -1));
}

const indexes = (flags: boolean[]) => flags.flatMap((flag, index) => (flag ? [index + 1] : []));

test('a visit between two captures moved, is news at its begin and at its end, and is unlike the newest frame', () => {
  const visit = box(64, 'white', changeAt, changeAt + 2);
  const { moved, earlier } = compareAll(renderThumbnails(`${daylight},${visit},${sensorNoise}`));
  expect(moved).toBe(false);
  expect(indexes(earlier.map((each) => each.moved))).toEqual([4, 5]);
  expect(indexes(earlier.map((each) => each.isNews))).toEqual([4, 6]);
  expect(indexes(earlier.map((each) => !each.likeNewest))).toEqual([4, 5]);
  expect(earlier.map(({ changedShare }) => changedShare > 0.001)).toEqual(earlier.map((each) => each.moved));
});

test('a thing that stays is news once, and the frames with it are like the newest', () => {
  const { moved, earlier } = compareAll(
    renderThumbnails(`${daylight},${box(64, 'white', changeAt)},${sensorNoise}`),
  );
  expect(moved).toBe(true);
  expect(indexes(earlier.map((each) => each.moved))).toEqual([4, 5, 6, 7]);
  expect(indexes(earlier.map((each) => each.isNews))).toEqual([4]);
  expect(indexes(earlier.map((each) => each.likeNewest))).toEqual([4, 5, 6, 7]);
});

test('a quiet series has nothing that moved, and all of it is like the newest', () => {
  const { moved, earlier } = compareAll(renderThumbnails(`${daylight},${sensorNoise}`));
  expect(moved).toBe(false);
  expect(earlier).toHaveLength(7);
  for (const each of earlier) expect(each).toMatchObject({ moved: false, isNews: false, likeNewest: true });
});

test('noise is learned from each frame of a series', () => {
  const [first, ...others] = renderThumbnails(`${daylight},${clock},${sensorNoise}`, { seconds: 12 });
  const { stateWithNewReference } = compareMotion(first!, null);
  const { stateWithSameReference } = compareMotion(others[9]!, stateWithNewReference, [], others.slice(0, 9));
  const alone = compareMotion(others[9]!, stateWithNewReference).stateWithSameReference;
  expect(compareMotion(others[10]!, alone).moved).toBe(true);
  expect(compareMotion(others[10]!, stateWithSameReference).moved).toBe(false);
});

test('a stream is still only if each frame equals the one before', () => {
  const [still] = renderThumbnails(daylight);
  const other = renderThumbnails(`${daylight},${box(64, 'white', 0)}`)[0]!;
  const { stateWithNewReference: state } = compareMotion(still!, null);
  expect(compareMotion(still!, state, [], [still!, still!]).identicalToPrevious).toBe(true);
  expect(compareMotion(still!, state, [], [still!, other]).identicalToPrevious).toBe(false);
});

test('the first capture has no reference, so all frames before it are news', () => {
  const [first, second] = renderThumbnails(daylight);
  expect(compareMotion(second!, null, [], [first!]).earlier).toEqual([
    { moved: true, isNews: true, likeNewest: false, changedShare: 1, black: false },
  ]);
});

test('a black frame is no news, and neither is the picture that returns after it', () => {
  const [first] = renderThumbnails(daylight);
  const dark = new Uint8Array(first!.length).fill(16, 0, 160 * 90).fill(128, 160 * 90);
  const { stateWithNewReference: state } = compareMotion(first!, null);
  const { black, earlier } = compareMotion(dark, state, [], [first!, dark, first!, dark]);
  expect(black).toBe(true);
  expect(indexes(earlier.map((each) => each.black))).toEqual([2, 4]);
  expect(indexes(earlier.map((each) => each.isNews))).toEqual([]);
  expect(compareMotion(first!, null, [], [dark]).earlier).toMatchObject([{ black: true }]);
});

test('regions limit motion in earlier frames too', () => {
  const [first, ...others] = renderThumbnails(`${daylight},${box(64, 'white', changeAt, changeAt + 2)}`);
  const { stateWithNewReference } = compareMotion(first!, null);
  const corners = [
    [0.45, 0.45],
    [0.6, 0.45],
    [0.6, 0.7],
    [0.45, 0.7],
  ];
  const regions = [{ mode: 'exclude' as const, points: corners }];
  const { earlier } = compareMotion(others.at(-1)!, stateWithNewReference, regions, others.slice(0, -1));
  expect(earlier.every(({ moved }) => !moved)).toBe(true);
});
