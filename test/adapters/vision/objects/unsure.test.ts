import { expect, test } from 'vitest';
import { modelThatSees, never, object } from './model-that-sees.ts';

test('a verdict that only low scores leave undecided is unsure, and no other is', async () => {
  const judgeDog = async (score: number) => {
    const { model } = modelThatSees([[object('dog', score)]]);
    const media = { mode: 'frames', frame: new Uint8Array() } as const;
    const question = { condition_id: 'dog', condition: 'a dog' };
    return (await model.judge(media, [question], never)).moments[0]?.[0];
  };
  expect(await judgeDog(0.2)).toMatchObject({ triggered: false, unsure: true });
  expect(await judgeDog(0.05)).not.toHaveProperty('unsure');
  expect(await judgeDog(0.5)).not.toHaveProperty('unsure');
});

test.each([
  ['beside it', 0.31, 'exclude', undefined, undefined],
  ['on both sides of its edge', 0.2, 'exclude', undefined, undefined],
  ['far from it', 0.5, 'exclude', true, undefined],
  ['beside a watched region', 0.2, 'include', true, undefined],
  ['on both sides of its edge, with sensitivity high', 0.2, 'exclude', undefined, true],
] as const)(
  'a low score at a hidden region is no unsure sighting, since a part of a thing looks like another: %s',
  async (_, left, mode, unsure, holds) => {
    // It stands in the watched part: the middle of its lower edge is at 20 %.
    const { model } = modelThatSees([[object('dog', 0.2)]]);
    const points: [number, number][] =
      mode === 'include'
        ? [
            [0, 0],
            [left + 0.05, 0],
            [left + 0.05, 1],
            [0, 1],
          ]
        : [
            [left + 0.005, 0],
            [0.6, 0],
            [0.6, 1],
            [left + 0.005, 1],
          ];
    const media = { mode: 'frames', frame: new Uint8Array(), regions: [{ mode, points }] } as const;
    const question = {
      condition_id: 'dog',
      condition: 'a dog',
      ...(holds && { sensitivity: 'high' as const }),
    };
    const verdict = (await model.judge(media, [question], never)).moments[0]?.[0];
    expect([verdict?.triggered, verdict?.unsure]).toEqual([holds ?? false, unsure]);
    expect(verdict?.explanation.includes('perhaps')).toBe(unsure ?? false);
  },
);
