import { expect, test } from 'vitest';
import { phrases } from './phrases.ts';
import { detectionsOf, frameOf, gateThatSees, scenes } from './scenes.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';
import { judgingEach, scriptedModel } from '../../../support/scripted-model.ts';

const never = new AbortController().signal;
const tokens = { input_tokens: 1_000, output_tokens: 50 };

/** Model that always knows what people say, and counts its calls. */
function oracle() {
  let calls = 0;
  const model = scriptedModel({
    provider: 'openai',
    model: 'oracle',
    judge: judgingEach(async ({ frame }, condition) => {
      calls += 1;
      const [, holds] = phrases.find(([phrase]) => phrase === condition)!;
      return { triggered: holds(scenes[frame[0]!]!), explanation: 'As people say.', tokens };
    }),
    answer: async () => ({ answer: 'none', triggered: null, tokens }),
    summarize: async () => ({ summary: 'none', tokens }),
  });
  return { model, calls: () => calls };
}

const labelled = scenes.flatMap((scene, index) =>
  phrases.map(([phrase, holds]) => ({ index, phrase, expected: holds(scene), scene })),
);

test('the gate denies sixty phrases about scenes of public footage with at most 2 % mistakes, and leaves the rest to the model, which is called that much less', async () => {
  expect(phrases).toHaveLength(60);
  const { model, calls } = oracle();
  const { gate } = gateThatSees(model, scenes.map(detectionsOf));
  const frames = scenes.map((_, index) => frameOf(index));
  const mistakes: string[] = [];
  let denied = 0;
  for (const { index, phrase, expected, scene } of labelled) {
    const { triggered, calls: made } = await judgeCondition(
      gate,
      { mode: 'frames', frame: frames[index]! },
      { condition: phrase },
      never,
    );
    if (made === undefined) {
      expect(triggered, 'the answer of the model is given').toBe(expected);
      continue;
    }
    denied += 1;
    expect([made, triggered]).toEqual([[], false]);
    if (expected) mistakes.push(`${scene.clip} ${scene.seconds}: ${phrase}`);
  }
  expect(calls()).toBe(labelled.length - denied);
  // A change of the rule must not lose these.
  expect(denied / labelled.length).toBeGreaterThan(0.1);
  expect(mistakes.length / denied, mistakes.join('\n')).toBeLessThanOrEqual(0.02);
});
