import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseMoments, type ComparedFrame } from '../../../core/sight/choose-moments.ts';
import { compared, type ScriptedFrame } from '../../support/watches/scans.ts';

const newest = { at: new Date('2026-03-01T12:00:00Z'), moved: false, black: false, confirms: false };

function toFrame(frame: ScriptedFrame): ComparedFrame {
  return { at: new Date(newest.at.getTime() - frame.before * 1000), ...compared(frame) };
}

/**
 * Returns the seconds before the newest frame of each chosen moment. A letter a frame: v visitor, q quiet, u unchanged,
 * b black.
 */
function chosen(
  text: string,
  {
    seconds = 2,
    shares = [],
    ...given
  }: { seconds?: number; shares?: number[]; moved?: boolean; black?: boolean; confirms?: boolean } = {},
): number[] {
  const shows = { v: 'visitor', q: 'quiet', u: 'unchanged', b: 'black' } as const;
  const frames = text.split('').map((letter, index) => ({
    before: (text.length - index) * seconds,
    shows: shows[letter as 'v'],
    ...(shares[index] !== undefined && { share: shares[index] }),
  }));
  return chooseMoments(frames.map(toFrame), { ...newest, ...given }).map((index) => frames[index]!.before);
}

test('a stream in which nothing moved has none', () => {
  expect(chosen('qqqqq')).toEqual([]);
  expect(chosen('uuuuu')).toEqual([]);
  expect(chosen('')).toEqual([]);
});

test('a visit has its frame of the greatest difference, and the farthest one from it', () => {
  expect(chosen('qvvvq', { shares: [0, 0.1, 0.1, 0.4, 0] })).toEqual([8, 4]);
});

test('a visit that a slight change outlasts is confirmed by a frame that shows it too', () => {
  expect(chosen('qvvvvvq', { shares: [0, 0.4, 0.3, 0.02, 0.02, 0.02, 0] })).toEqual([12, 10, 6]);
  expect(chosen('qvvvvq', { shares: [0, 0.4, 0.1, 0.02, 0.02, 0] })).toEqual([10, 8, 4]);
});

test('a visit whose middle is the greatest has its begin and its end, which confirm each other', () => {
  expect(chosen('qqqqvvvqqq', { seconds: 1, shares: [0, 0, 0, 0, 0.1, 0.4, 0.1] })).toEqual([6, 5, 4]);
});

test('a visit of one frame has one moment', () => {
  expect(chosen('qqvqq')).toEqual([6]);
});

test('the greatest visit is confirmed before another one has its moment', () => {
  expect(chosen('vvqqqvvq', { shares: [0.1, 0.2, 0, 0, 0, 0.3, 0.4, 0] })).toEqual([14, 6, 4]);
});

test('three visits of one frame have a moment each', () => {
  expect(chosen('vqvqvq')).toEqual([12, 8, 4]);
});

test('a long visit has a third moment that shows the rest', () => {
  expect(chosen('vvvvvv', { moved: true, shares: [0.15] })).toEqual([12, 8, 6]);
});

test('a visitor who stays is confirmed by one moment before the newest frame', () => {
  const frames = [10, 8, 6, 4, 2].map((before) => ({
    ...toFrame({ before, shows: 'quiet' }),
    moved: before <= 6,
    likeNewest: before <= 6,
    isNews: before === 6,
  }));
  expect(chooseMoments(frames, { ...newest, moved: true })).toEqual([2]);
});

test('a visitor whom the model failed to judge before has no moment beside the newest frame', () => {
  const frames = [6, 4, 2].map((before) => ({ ...toFrame({ before, shows: 'quiet' }), moved: true }));
  expect(chooseMoments(frames, { ...newest, moved: true })).toEqual([]);
});

test('a visitor who waits for a confirmation and leaves without a move has a moment', () => {
  expect(chosen('uuqqq', { confirms: true, moved: true })).toEqual([8]);
  expect(chosen('uuqqq', { confirms: false, moved: true })).toEqual([]);
});

test('a frame just before the newest gives way to one that is a second away', () => {
  expect(chosen('vv', { seconds: 0.6, shares: [0.1, 0.4] })).toEqual([1.2]);
});

test('black frames have no moment, and a visit before a black newest frame has them up to its end', () => {
  expect(chosen('qbvbbvq')).toEqual([10, 4]);
  const dark = { black: true, moved: true };
  expect(chosen('uvvvvv', { ...dark, seconds: 0.5 })).toEqual([2.5, 0.5]);
  expect(chosen('uuvvbb', dark)).toEqual([8, 6]);
  expect(chosen('uuubbb', dark)).toEqual([]);
  expect(chosen('uubbbb', { ...dark, confirms: true })).toEqual([10]);
});

const frame = fc.record({
  gapMs: fc.integer({ min: 1, max: 6000 }),
  moved: fc.boolean(),
  isNews: fc.boolean(),
  likeNewest: fc.boolean(),
  changedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  black: fc.boolean(),
});

test('moments are at most three, in order, and a second apart from each other and the newest', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 60 }), fc.boolean(), fc.boolean(), (frames, moved, confirms) => {
      let ms = newest.at.getTime();
      const series = frames
        .map(({ gapMs, ...motion }) => ({ ...motion, at: new Date((ms -= gapMs)) }))
        .toReversed();
      const indices = chooseMoments(series, { ...newest, moved, confirms });
      expect(indices.length).toBeLessThanOrEqual(3);
      const times = [...indices.map((index) => series[index]!.at.getTime()), newest.at.getTime()];
      for (const [index, time] of times.slice(1).entries())
        expect(time - times[index]!).toBeGreaterThanOrEqual(1000);
      for (const index of indices) expect(series[index]!.black).toBe(false);
      for (const index of indices)
        expect(confirms || series[index]!.moved || series[index]!.isNews).toBe(true);
    }),
  );
});

test('a visit that two frames show at least two seconds apart has two moments that far apart', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.nat({ max: 10 }),
      fc.nat({ max: 10 }),
      fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 2, maxLength: 30 }),
      (seconds, before, after, shares) => {
        fc.pre((shares.length - 1) * seconds >= 2);
        const text = 'q'.repeat(before) + 'v'.repeat(shares.length) + 'q'.repeat(after);
        const times = chosen(text, { seconds, shares: [...Array(before).fill(0), ...shares] });
        expect(Math.max(...times) - Math.min(...times)).toBeGreaterThanOrEqual(2);
      },
    ),
  );
});
