import { expect, test } from 'vitest';
import { createCombinedVision } from '../../../../adapters/vision/combined/combined-vision.ts';
import type { VisionModel } from '../../../../core/ports/vision-model.ts';
import { phrases } from './phrases.ts';
import { detectionsOf, frameOf, objectsThatSee, scenes } from './scenes.ts';

const never = new AbortController().signal;
const tokens = { input_tokens: 1_000, output_tokens: 50 };

/** Model that always knows what people say, and counts its calls. */
function oracle() {
  let calls = 0;
  const model: VisionModel = {
    provider: 'openai',
    model: 'oracle',
    supportsVideo: false,
    judge: async ({ frame }, condition) => {
      calls += 1;
      const [, holds] = phrases.find(([phrase]) => phrase === condition)!;
      return { triggered: holds(scenes[frame[0]!]!), explanation: 'As people say.', tokens };
    },
    answer: async () => ({ answer: 'none', triggered: null, tokens }),
    summarize: async () => ({ summary: 'none', tokens }),
  };
  return { model, calls: () => calls };
}

const labelled = scenes.flatMap((scene, index) =>
  phrases.map(([phrase, holds]) => ({ index, phrase, expected: holds(scene), scene })),
);

test('sixty phrases about scenes of public footage are answered surely by the object model with at most 2 % mistakes, the rest by the second model, which is called that much less', async () => {
  expect(phrases).toHaveLength(60);
  const { model: first } = objectsThatSee(scenes.map(detectionsOf));
  const second = oracle();
  const combined = createCombinedVision({ first, second: second.model });
  const frames = scenes.map((_, index) => frameOf(index));
  const mistakes: string[] = [];
  const sure = { yes: 0, no: 0 };
  for (const { index, phrase, expected, scene } of labelled) {
    const verdict = await combined.judge({ mode: 'frames', frame: frames[index]! }, phrase, never);
    const isRight = verdict.triggered === expected;
    if (verdict.judgedBy?.provider === 'openai') {
      expect(isRight, 'the answer of the second model is given').toBe(true);
      continue;
    }
    expect(verdict.judgedBy?.provider).toBe('objects');
    sure[verdict.triggered ? 'yes' : 'no'] += 1;
    if (!isRight) mistakes.push(`${scene.clip} ${scene.seconds}: ${phrase}`);
  }
  const answered = sure.yes + sure.no;
  expect(second.calls()).toBe(labelled.length - answered);
  // A change of the rule must not lose these.
  expect(answered / labelled.length).toBeGreaterThan(0.2);
  expect(sure.yes).toBeGreaterThan(100);
  expect(mistakes.length / answered, mistakes.join('\n')).toBeLessThanOrEqual(0.02);
});
