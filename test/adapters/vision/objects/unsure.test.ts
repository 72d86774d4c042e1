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
