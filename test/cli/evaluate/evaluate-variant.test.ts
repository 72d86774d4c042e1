import { expect, test } from 'vitest';
import { evaluateVariant, type EvaluateDeps } from '../../../cli/evaluate/evaluate-variant.ts';
import type { LabelledExample } from '../../../cli/evaluate/read-set.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';

const variant = { model: 'test', mode: 'frames' as const, width: null, prompt: null };
const never = new AbortController().signal;

function example(id: string, expected: LabelledExample['expected']): LabelledExample {
  return { id, picture: `${id}.jpg`, condition: id, expected, tags: [] };
}

/** Model that answers by the condition; each call takes 10 ms more than the one before. */
function depsWith(answer: (condition: string, call: number) => boolean): EvaluateDeps {
  let calls = 0;
  let elapsed = 0;
  const vision = scriptedModel({
    provider: 'bedrock',
    model: 'amazon.nova-lite-v1:0',
    judge: judgingEach(async (_, condition) => {
      calls += 1;
      elapsed += calls * 10;
      const tokens = { input_tokens: 1000, output_tokens: 100 };
      return { triggered: answer(condition, calls), explanation: `seen in call ${calls}`, tokens };
    }),
  });
  return {
    vision,
    readMedia: async () => ({ mode: 'frames', frame: new Uint8Array() }),
    elapsedMs: () => elapsed,
    onProgress: () => undefined,
  };
}

test('an evaluation asks about each example as often as requested and reports tokens, cost and times', async () => {
  const set = [example('door', 'yes'), example('yard', 'no')];
  const deps = depsWith((condition) => condition === 'door');
  const result = await evaluateVariant(variant, set, { repeat: 2, atOnce: 1 }, deps, never);
  expect(result).toMatchObject({
    calls: 4,
    failed_calls: 0,
    tokens: { input_tokens: 4000, output_tokens: 400 },
    p50_ms: 20,
    p95_ms: 40,
    mistakes: [],
    unstable: [],
  });
  expect(result.usd).toBeCloseTo(4000 * 0.06e-6 + 400 * 0.24e-6);
});

test('a wrong answer is a mistake with its explanation, and a changing one is unstable', async () => {
  const set = [example('door', 'yes'), example('yard', 'no')];
  const deps = depsWith((condition, call) => condition === 'yard' || call === 1);
  const result = await evaluateVariant(variant, set, { repeat: 3, atOnce: 1 }, deps, never);
  expect(result.unstable).toEqual(['door']);
  expect(result.mistakes).toEqual([
    {
      example: 'door',
      condition: 'door',
      expected: 'yes',
      answers: [true, false, false],
      explanation: 'seen in call 1',
    },
    {
      example: 'yard',
      condition: 'yard',
      expected: 'no',
      answers: [true, true, true],
      explanation: 'seen in call 4',
    },
  ]);
});

test('a failed call is no verdict, and the evaluation continues', async () => {
  const deps = depsWith((_, call) => {
    if (call === 1) throw new VisionError('The model is overloaded.');
    return true;
  });
  const set = [example('door', 'yes'), example('gate', 'yes')];
  const result = await evaluateVariant(variant, set, { repeat: 1, atOnce: 1 }, deps, never);
  expect(result).toMatchObject({
    calls: 2,
    failed_calls: 1,
    failure: 'Vision model analysis failed. The model is overloaded.',
    score: { not_judged: 1, true_positives: 1 },
  });
});
