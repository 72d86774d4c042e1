import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCachedVision } from '../../../cli/replay/cached-vision.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { type CheckMedia, type VisionModel, judgeCondition } from '../../../core/ports/vision-model.ts';
import { judgingEach, scriptedModel } from '../../support/scripted-model.ts';
import type { ConditionQuestion } from '../../../core/records/vision.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verdicts-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const media: CheckMedia = { mode: 'frames', frame: new Uint8Array([1]) };

function countingModel(model = 'a') {
  const asked: string[] = [];
  const vision = scriptedModel({
    provider: 'openai',
    model,
    judge: judgingEach(async (_, condition) => {
      asked.push(condition);
      if (condition === 'broken') throw new VisionError('The model is overloaded.');
      return {
        triggered: true,
        explanation: `seen ${asked.length}`,
        tokens: { input_tokens: 1, output_tokens: 1 },
      };
    }),
  });
  return { asked, vision };
}

test('another prompt, width or frame before is asked about again', async () => {
  const { asked, vision } = countingModel();
  await judgeCondition(
    createCachedVision(vision, folder, ['strict', 896]),
    media,
    { condition: 'a car' },
    never,
  );
  await judgeCondition(
    createCachedVision(vision, folder, ['strict', 448]),
    media,
    { condition: 'a car' },
    never,
  );
  const previous = new Uint8Array([1]);
  await judgeCondition(
    createCachedVision(vision, folder, ['strict', 896]),
    { ...media, previous },
    { condition: 'a car' },
    never,
  );
  expect(asked).toHaveLength(3);
});

test('the same picture, condition and model is asked about once, also by a later run', async () => {
  const { asked, vision } = countingModel();
  const first = await judgeCondition(
    createCachedVision(vision, folder, []),
    media,
    { condition: 'red' },
    never,
  );
  const later = createCachedVision(vision, folder, []);
  expect(await judgeCondition(later, media, { condition: 'red' }, never)).toEqual(first);
  expect(asked).toEqual(['red']);
  expect(later.remembered()).toBe(1);
});

test('another picture, condition, mode or model is asked about', async () => {
  const { asked, vision } = countingModel();
  const cached = createCachedVision(vision, folder, []);
  await judgeCondition(cached, media, { condition: 'red' }, never);
  await judgeCondition(cached, { ...media, frame: new Uint8Array([2]) }, { condition: 'red' }, never);
  await judgeCondition(cached, media, { condition: 'blue' }, never);
  await judgeCondition(
    cached,
    { ...media, mode: 'hybrid', clip: new Uint8Array([3]) },
    { condition: 'red' },
    never,
  );
  const other = countingModel('b');
  await judgeCondition(createCachedVision(other.vision, folder, []), media, { condition: 'red' }, never);
  expect([asked.length, other.asked.length]).toEqual([4, 1]);
});

test('a failed call is not remembered, and a damaged verdict is asked for again', async () => {
  const { asked, vision } = countingModel();
  const cached = createCachedVision(vision, folder, []);
  await expect(judgeCondition(cached, media, { condition: 'broken' }, never)).rejects.toBeInstanceOf(
    VisionError,
  );
  expect(await readdir(folder)).toEqual([]);
  await judgeCondition(cached, media, { condition: 'red' }, never);
  const [file = ''] = await readdir(folder);
  await writeFile(join(folder, file), '{"triggered":');
  await judgeCondition(cached, media, { condition: 'red' }, never);
  expect(asked).toEqual(['broken', 'red', 'red']);
});

test('a joint call about several conditions is remembered as one, and other conditions are asked about', async () => {
  const { vision } = countingModel();
  const calls: number[] = [];
  const joint: VisionModel = {
    ...vision,
    judge: async (_, questions) => {
      calls.push(questions.length);
      const verdicts = questions.map(({ condition_id }) => ({
        condition_id,
        triggered: null,
        explanation: 'Unclear.',
      }));
      return { moments: [verdicts], tokens: { input_tokens: 9, output_tokens: 9 } };
    },
  };
  const questions = ['a', 'b'].map((condition_id) => ({
    condition_id,
    condition: `${condition_id} is there`,
  }));
  const first = await createCachedVision(joint, folder, []).judge(media, questions, never);
  const later = createCachedVision(joint, folder, []);
  expect(await later.judge(media, questions, never)).toEqual(first);
  await later.judge(media, questions.slice(1), never);
  expect({ calls, remembered: later.remembered() }).toEqual({ calls: [2, 1], remembered: 1 });
});

test('a call about several frames is remembered as one, and other frames, times or conditions are asked about', async () => {
  let calls = 0;
  const several: VisionModel = {
    ...countingModel().vision,
    judge: async ({ earlier = [] }) => {
      calls += 1;
      const verdict = { condition_id: 'a', triggered: true, explanation: 'seen' };
      return {
        moments: [...earlier.map(() => [verdict]), [verdict]],
        tokens: { input_tokens: 9, output_tokens: 9 },
      };
    },
  };
  const questions = [{ condition_id: 'a', condition: 'a car' }];
  const frames = (first: number, secondsBefore: number): CheckMedia => ({
    mode: 'frames',
    frame: new Uint8Array([2]),
    earlier: [{ frame: new Uint8Array([first]), secondsBefore }],
  });
  const ask = async (shown: CheckMedia, asked: ConditionQuestion[] = questions) => {
    const cached = createCachedVision(several, folder, []);
    await cached.judge(shown, asked, never);
    return cached.remembered();
  };
  expect(await ask(frames(1, 5))).toBe(0);
  expect(await ask(frames(1, 5))).toBe(1);
  expect(await ask(frames(3, 5))).toBe(0);
  expect(await ask(frames(1, 6))).toBe(0);
  expect(await ask(frames(1, 5), [{ condition_id: 'a', condition: 'a dog' }])).toBe(0);
  expect(await ask(frames(1, 5), [{ ...questions[0]!, sensitivity: 'high' }])).toBe(0);
  expect(await ask({ ...frames(1, 5), previous: new Uint8Array([7]) })).toBe(0);
  expect(calls).toBe(6);
});
