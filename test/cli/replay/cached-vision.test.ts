import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCachedVision } from '../../../cli/replay/cached-vision.ts';
import { VisionError } from '../../../core/errors.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verdicts-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const media: CheckMedia = { mode: 'frames', frame: new Uint8Array([1]) };

function countingModel(model = 'a') {
  const asked: string[] = [];
  const vision: VisionModel = {
    provider: 'openai',
    model,
    supportsVideo: false,
    judge: async (_, condition) => {
      asked.push(condition);
      if (condition === 'broken') throw new VisionError('The model is overloaded.');
      return {
        triggered: true,
        explanation: `seen ${asked.length}`,
        tokens: { input_tokens: 1, output_tokens: 1 },
      };
    },
    answer: async () => expect.unreachable(),
    summarize: async () => expect.unreachable(),
  };
  return { asked, vision };
}

test('another prompt, width or frame before is asked about again', async () => {
  const { asked, vision } = countingModel();
  await createCachedVision(vision, folder, ['strict', 896]).judge(media, 'a car', never);
  await createCachedVision(vision, folder, ['strict', 448]).judge(media, 'a car', never);
  const previous = new Uint8Array([1]);
  await createCachedVision(vision, folder, ['strict', 896]).judge({ ...media, previous }, 'a car', never);
  expect(asked).toHaveLength(3);
});

test('the same picture, condition and model is asked about once, also by a later run', async () => {
  const { asked, vision } = countingModel();
  const first = await createCachedVision(vision, folder, []).judge(media, 'red', never);
  const later = createCachedVision(vision, folder, []);
  expect(await later.judge(media, 'red', never)).toEqual(first);
  expect(asked).toEqual(['red']);
  expect(later.remembered()).toBe(1);
});

test('another picture, condition, mode or model is asked about', async () => {
  const { asked, vision } = countingModel();
  const cached = createCachedVision(vision, folder, []);
  await cached.judge(media, 'red', never);
  await cached.judge({ ...media, frame: new Uint8Array([2]) }, 'red', never);
  await cached.judge(media, 'blue', never);
  await cached.judge({ ...media, mode: 'hybrid', clip: new Uint8Array([3]) }, 'red', never);
  const other = countingModel('b');
  await createCachedVision(other.vision, folder, []).judge(media, 'red', never);
  expect([asked.length, other.asked.length]).toEqual([4, 1]);
});

test('a failed call is not remembered, and a damaged verdict is asked for again', async () => {
  const { asked, vision } = countingModel();
  const cached = createCachedVision(vision, folder, []);
  await expect(cached.judge(media, 'broken', never)).rejects.toBeInstanceOf(VisionError);
  expect(await readdir(folder)).toEqual([]);
  await cached.judge(media, 'red', never);
  const [file = ''] = await readdir(folder);
  await writeFile(join(folder, file), '{"triggered":');
  await cached.judge(media, 'red', never);
  expect(asked).toEqual(['broken', 'red', 'red']);
});

test('a joint call about several conditions is remembered as one, and other conditions are asked about', async () => {
  const { vision } = countingModel();
  const calls: number[] = [];
  const joint: VisionModel = {
    ...vision,
    judgeConditions: async (_, questions) => {
      calls.push(questions.length);
      return {
        verdicts: questions.map(({ condition_id }) => ({ condition_id, triggered: null, explanation: '' })),
        tokens: { input_tokens: 9, output_tokens: 9 },
      };
    },
  };
  const questions = ['a', 'b'].map((condition_id) => ({
    condition_id,
    condition: `${condition_id} is there`,
  }));
  const first = await createCachedVision(joint, folder, []).judgeConditions!(media, questions, never);
  const later = createCachedVision(joint, folder, []);
  expect(await later.judgeConditions!(media, questions, never)).toEqual(first);
  await later.judgeConditions!(media, questions.slice(1), never);
  expect({ calls, remembered: later.remembered() }).toEqual({ calls: [2, 1], remembered: 1 });
});

test('a call about several frames is remembered as one, and other frames, times or conditions are asked about', async () => {
  let calls = 0;
  const several: VisionModel = {
    ...countingModel().vision,
    judgeMoments: async (frames) => {
      calls += 1;
      const verdict = { condition_id: 'a', triggered: true, explanation: 'seen' };
      return { moments: frames.map(() => [verdict]), tokens: { input_tokens: 9, output_tokens: 9 } };
    },
  };
  const questions = [{ condition_id: 'a', condition: 'a car' }];
  const frames = (first: number, seconds: number, begin = 0) =>
    [first, 2].map((name, index) => ({
      frame: new Uint8Array([name]),
      at: new Date(begin + index * seconds * 1000),
    }));
  const ask = async (of: ReturnType<typeof frames>, asked = questions, options = {}) => {
    const cached = createCachedVision(several, folder, []);
    await cached.judgeMoments!(of, asked, options, never);
    return cached.remembered();
  };
  expect(await ask(frames(1, 5))).toBe(0);
  expect(await ask(frames(1, 5, 86_400_000))).toBe(1);
  expect(await ask(frames(3, 5))).toBe(0);
  expect(await ask(frames(1, 6))).toBe(0);
  expect(await ask(frames(1, 5), [{ condition_id: 'a', condition: 'a dog' }])).toBe(0);
  expect(await ask(frames(1, 5), questions, { previous: new Uint8Array([7]) })).toBe(0);
  expect(calls).toBe(5);
});

test('a model without a call for several conditions or frames gets none', () => {
  const cached = createCachedVision(countingModel().vision, folder, []);
  expect(cached.judgeConditions).toBeUndefined();
  expect(cached.judgeMoments).toBeUndefined();
});
