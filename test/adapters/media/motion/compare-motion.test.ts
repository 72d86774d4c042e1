import { describe, expect, test } from 'vitest';
import { compareMotion } from '../../../../adapters/media/motion/compare-motion.ts';
import { mostDifferent } from '../../../support/most-different.ts';
import {
  box,
  changeAt,
  clock,
  daylight,
  looks,
  night,
  sensorNoise,
  renderThumbnails,
  watch,
} from './scenes.ts';

const first = 0;

describe('motion detection in a scene without events', () => {
  test.each([
    ['a still scene', daylight],
    ['sensor noise', `${daylight},${sensorNoise}`],
    ['slowly growing daylight', `${daylight},eq=brightness='t*0.015':eval=frame,${sensorNoise}`],
    [
      'a jump of exposure',
      `${daylight},eq=contrast=1.25:brightness=0.06:enable='gte(t,${changeAt})',${sensorNoise}`,
    ],
    [
      'a jump of the white balance',
      `${daylight},colorbalance=rm=0.12:bm=-0.1:enable='gte(t,${changeAt})',${sensorNoise}`,
    ],
  ])('%s causes only the first check', (_, filter) => {
    expect(looks(renderThumbnails(filter))).toEqual([first]);
  });

  test('strong noise at a low bit rate causes checks only while the rate control of the encoder settles', () => {
    const noise = `${daylight},noise=alls=60:allf=t`;
    expect(looks(renderThumbnails(noise, { bitrate: '350k' })).filter((tick) => tick > 2)).toEqual([]);
  });

  test('a learned clock overlay causes no check', () => {
    const looked = looks(renderThumbnails(`${daylight},${clock},${sensorNoise}`, { seconds: 16 }));
    expect(looked.filter((tick) => tick > 5)).toEqual([]);
    expect(looked.length).toBeLessThanOrEqual(4);
  });
});

describe('motion detection of an event', () => {
  const boxes = [16, 64, 24, 32].map((side): [string, string] => [
    `a box of ${side} px at 720p`,
    `${daylight},${box(side, 'white', changeAt)},${sensorNoise}`,
  ]);

  test.each<[string, string]>([
    ...mostDifferent(boxes, 1),
    ['a box of 32 px under a clock', `${daylight},${clock},${box(32, 'white', changeAt)},${sensorNoise}`],
    [
      'a person at night',
      `${night},${sensorNoise},drawbox=x=600:y=300:w=40:h=100:color=0x303030:t=fill:enable='gte(t,${changeAt})'`,
    ],
    [
      'a screen that turns from grey to blue',
      `color=gray:s=1280x720:r=1,drawbox=color=blue:t=fill:enable='gte(t,${changeAt})'`,
    ],
    [
      'a room whose lights go out',
      `${daylight},eq=brightness=-0.4:contrast=0.3:enable='gte(t,${changeAt})',${sensorNoise}`,
    ],
  ])('%s causes a check in its tick', (_, filter) => {
    const ticks = watch(renderThumbnails(filter));
    expect(ticks[changeAt]).toMatchObject({ looked: true });
    expect(ticks[changeAt]?.changedShare).toBeGreaterThan(0);
  });

  test('a red object as bright as its gray background causes a check when it appears and disappears', () => {
    const scene = `color=0x808080:s=1280x720:r=1,${sensorNoise},${box(64, '0xff4848', changeAt, changeAt + 3)}`;
    expect(looks(renderThumbnails(scene))).toEqual([first, changeAt, changeAt + 3]);
  });

  test('an object at the position of a clock causes a check when it appears and disappears', () => {
    const visitor = `drawbox=x=600:y=30:w=60:h=60:color=white:t=fill:enable='between(t,${changeAt},${changeAt + 2.9})'`;
    expect(looks(renderThumbnails(`${daylight},${visitor},${sensorNoise}`))).toEqual([
      first,
      changeAt,
      changeAt + 3,
    ]);
  });
});

test('slow change accumulates against the motion reference', () => {
  const ghost = 'color=white:s=80x160:r=1,format=yuva420p,fade=in:st=1:d=40:alpha=1[ghost]';
  const pictures = renderThumbnails(
    `${daylight}[scene];${ghost};[scene][ghost]overlay=600:300,${sensorNoise}`,
    {
      seconds: 14,
    },
  );
  expect(looks(pictures).length).toBeGreaterThan(1);
  const stepByStep = pictures.slice(1).map((picture, at) => {
    const { stateWithNewReference: stateIfLooked } = compareMotion(pictures[at]!, null);
    return compareMotion(picture, stateIfLooked).moved;
  });
  expect(stepByStep.filter(Boolean).length).toBeLessThan(stepByStep.length / 4);
});

test('the changed share is at most 1 if luma and both chroma planes change everywhere', () => {
  const filled = (luma: number, blueness: number, redness: number) =>
    Uint8Array.from({ length: 21_600 }, (_, at) => (at < 14_400 ? luma : at < 18_000 ? blueness : redness));
  const [grey, red, green] = [filled(126, 128, 128), filled(126, 90, 240), filled(40, 20, 20)];
  for (const [before, after] of [
    [grey, red],
    [red, grey],
    [grey, green],
    [red, green],
  ] as const) {
    const { moved, changedShare } = compareMotion(after, compareMotion(before, null).stateWithNewReference);
    expect(moved).toBe(true);
    expect(changedShare).toBeLessThanOrEqual(1);
  }
});

describe('motion state', () => {
  const [before, after] = renderThumbnails(`${daylight},${sensorNoise}`, { seconds: 2 });

  test('a first frame counts as moved', () => {
    expect(compareMotion(before!, null)).toMatchObject({
      moved: true,
      changedShare: 1,
      identicalToPrevious: false,
    });
  });

  test.each(['', 'nonsense', '!!!', Buffer.from([1, 2, 3]).toString('base64')])(
    'an unreadable state (%j) starts over',
    (state) => {
      expect(compareMotion(before!, state).moved).toBe(true);
    },
  );

  test('a motion state stays below 14 kB, even from a very noisy camera', () => {
    const [picture, next] = renderThumbnails(`${daylight},noise=alls=60:allf=t`, { seconds: 2 });
    const { stateWithSameReference: stateIfSkipped } = compareMotion(
      next!,
      compareMotion(picture!, null).stateWithNewReference,
    );
    expect(stateIfSkipped.length).toBeLessThan(14_000);
    expect(
      compareMotion(after!, compareMotion(before!, null).stateWithNewReference).stateWithNewReference.length,
    ).toBeLessThan(11_000);
  });

  test('a comparison is pure: equal thumbnail and state give the same result', () => {
    const { stateWithNewReference: stateIfLooked } = compareMotion(before!, null);
    expect(compareMotion(after!, stateIfLooked)).toEqual(compareMotion(after!, stateIfLooked));
  });

  test('a thumbnail of another size is rejected', () => {
    expect(() => compareMotion(new Uint8Array(5), null)).toThrow(RangeError);
  });
});

describe('black frame', () => {
  test.each([
    ['a black frame', 'color=black:s=1280x720:r=1', true],
    ['the noise of a covered lens', 'color=black:s=1280x720:r=1,noise=alls=8:allf=t', true],
    ['a dark and noisy scene', `${night},noise=alls=20:allf=t`, false],
    [
      'a person in the dark',
      'color=0x080808:s=1280x720:r=1,drawbox=x=600:y=300:w=40:h=100:color=0x161616:t=fill',
      false,
    ],
    [
      'a lamp far away',
      'color=black:s=1280x720:r=1,drawbox=x=600:y=300:w=32:h=32:color=0x808080:t=fill',
      false,
    ],
    ['a dark blue screen', 'color=0x00000c:s=1280x720:r=1,drawbox=color=0x000028:t=fill', false],
    ['grey', 'color=gray:s=1280x720:r=1', false],
  ])('a stream of %s counts as black: %s', (_, filter, black) => {
    const ticks = watch(renderThumbnails(filter, { seconds: 3 }));
    expect(ticks.map((tick) => tick.black)).toEqual([black, black, black]);
  });
});

describe('frozen frame', () => {
  const settled = 4;

  test.each([
    ['a test card', 'smptehdbars=s=1280x720:r=1'],
    ['a scene', daylight],
  ])('%s that is frozen is identical from key frame to key frame', (_, filter) => {
    const ticks = watch(renderThumbnails(filter, { bitrate: '6M' })).slice(settled);
    expect(ticks.map((tick) => tick.identicalToPrevious)).toEqual(ticks.map(() => true));
  });

  test.each([
    ['noise of 4 levels', `${daylight},noise=alls=4:allf=t`],
    ['noise of 10 levels', `${daylight},noise=alls=10:allf=t`],
    ['noise at a low bit rate', `${daylight},noise=alls=10:allf=t`, '300k'],
    ['a clock over a frozen scene', `${daylight},${clock}`],
  ])('%s is not identical', (_, filter, bitrate = '1500k') => {
    const ticks = watch(renderThumbnails(filter, { bitrate }));
    expect(ticks.filter((tick) => tick.identicalToPrevious)).toEqual([]);
  });
});

test('motion outside of the regions does not count, and motion inside of them does', () => {
  const pictures = renderThumbnails(`${daylight},${box(200, 'red', changeAt)}`);
  const region = (mode: 'include' | 'exclude', x1: number, x2: number) => ({
    mode,
    points: [
      [x1, 0],
      [x2, 0],
      [x2, 1],
      [x1, 1],
    ],
  });
  const movedWith = (...regions: ReturnType<typeof region>[]) => {
    let state: string | null = null;
    return pictures.flatMap((picture, at) => {
      const comparison = compareMotion(picture, state, regions);
      state = comparison.moved ? comparison.stateWithNewReference : comparison.stateWithSameReference;
      return comparison.moved && at > 0 ? [at] : [];
    });
  };
  expect(movedWith()).toEqual([changeAt]);
  expect(movedWith(region('include', 0.4, 0.8))).toEqual([changeAt]);
  expect(movedWith(region('include', 0, 0.4))).toEqual([]);
  expect(movedWith(region('exclude', 0.45, 0.75))).toEqual([]);
  expect(movedWith(region('exclude', 0, 0.3))).toEqual([changeAt]);
});
