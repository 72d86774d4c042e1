import { expect, test, vi } from 'vitest';
import { createCombinedVision } from '../../../../adapters/vision/combined/combined-vision.ts';
import { ModelBusyError, TooManyFramesError, VisionError } from '../../../../core/errors.ts';
import type { MomentFrame, VisionModel } from '../../../../core/ports/vision-model.ts';
import type { ConditionQuestion } from '../../../../core/records/vision.ts';
import { never, object } from '../objects/model-that-sees.ts';
import { frameOf, objectsThatSee } from './scenes.ts';

const tokens = { input_tokens: 900, output_tokens: 40 };
const none = { input_tokens: 0, output_tokens: 0 };
const person = object('person', 0.8);
const perhaps = object('person', 0.2);

/** Second model, which says yes to all that it is asked. */
function secondModel(given: Partial<VisionModel> = {}) {
  const asked: { frames: number[]; conditions: string[]; previous?: number }[] = [];
  const note = (frames: Uint8Array[], questions: readonly ConditionQuestion[], previous?: Uint8Array) =>
    asked.push({
      frames: frames.map(([number = -1]) => number),
      conditions: questions.map(({ condition }) => condition),
      ...(previous && { previous: previous[0]! }),
    });
  const yes = ({ condition_id }: ConditionQuestion) => ({
    condition_id,
    triggered: true,
    explanation: 'It is.',
    prompt_version: 'verdict-first-1',
  });
  const model: VisionModel = {
    provider: 'openai',
    model: 'llava',
    supportsVideo: false,
    judge: async ({ frame, previous }, condition) => {
      note([frame], [{ condition_id: '', condition }], previous);
      return { triggered: true, explanation: 'It is.', tokens, prompt_version: 'verdict-first-1' };
    },
    judgeConditions: async ({ frame, previous }, questions) => {
      note([frame], questions, previous);
      return { verdicts: questions.map(yes), tokens };
    },
    judgeMoments: async (frames, questions, { previous }) => {
      note(
        frames.map(({ frame }) => frame),
        questions,
        previous,
      );
      return { moments: frames.map(() => questions.map(yes)), tokens };
    },
    answer: async () => ({ answer: 'Two red cars.', triggered: null, tokens }),
    summarize: async () => ({ summary: 'A quiet hour.', tokens }),
    ...given,
  };
  return { model, asked };
}

function combine(seen: Parameters<typeof objectsThatSee>[0], given?: Partial<VisionModel>) {
  const { model: first, detected } = objectsThatSee(seen);
  const second = secondModel(given);
  return { combined: createCombinedVision({ first, second: second.model }), detected, ...second };
}

const question = (condition_id: string, condition: string) => ({ condition_id, condition });
const media = (index = 0) => ({ mode: 'frames' as const, frame: frameOf(index) });
const moment = (index: number): MomentFrame => ({ frame: frameOf(index), at: new Date(index * 1000) });
const down = async () => {
  throw new VisionError('Start the server.');
};

test('the two models of a combined one are named in their order', () => {
  const { provider, model, parts } = combine([]).combined;
  expect([provider, model, parts?.map((part) => part.model)]).toEqual([
    'objects+openai',
    'objects+llava',
    ['objects', 'llava'],
  ]);
});

test('a person who is surely there is judged by the object model, without a call', async () => {
  const { combined, asked } = combine([[person]]);
  const verdict = await combined.judge(media(), 'A person is visible', never);
  expect(verdict).toMatchObject({
    triggered: true,
    tokens: none,
    calls: [],
    judgedBy: { provider: 'objects' },
  });
  expect(verdict.explanation).toMatch(/built-in object model/);
  expect(verdict.boxes).toHaveLength(1);
  expect(asked).toEqual([]);
});

test('a person who is perhaps there is judged by the second model, whose name is in the explanation', async () => {
  const { combined, asked } = combine([[perhaps]]);
  const verdict = await combined.judge(media(), 'A person is visible', never);
  expect(verdict).toMatchObject({
    triggered: true,
    tokens,
    explanation: 'It is. Judged by llava.',
    prompt_version: 'verdict-first-1',
    judgedBy: { provider: 'openai', model: 'llava' },
  });
  expect(asked).toHaveLength(1);
});

test('a condition of which the object model can never be sure costs no detection', async () => {
  const { combined, asked, detected } = combine([[person]]);
  await combined.judge(media(), 'The gate is open', never);
  expect(asked[0]?.conditions).toEqual(['The gate is open']);
  expect(detected).toEqual([]);
});

test('several conditions in one call send the second model only those that are not sure', async () => {
  const { combined, asked } = combine([[person]]);
  const result = await combined.judgeConditions!(
    media(),
    [
      question('person', 'A person is visible'),
      question('gate', 'The gate is open'),
      question('dog', 'A dog is visible'),
    ],
    never,
  );
  expect(asked).toEqual([{ frames: [0], conditions: ['The gate is open'] }]);
  expect(
    Object.fromEntries(result.verdicts.map(({ condition_id, triggered }) => [condition_id, triggered])),
  ).toEqual({
    person: true,
    dog: false,
    gate: true,
  });
  expect(result).toMatchObject({ tokens, calls: [tokens] });
});

test('several moments send the second model the unsure ones, with the frame before them', async () => {
  const { combined, asked } = combine([[person], [perhaps], [person], [perhaps]]);
  const frames = [0, 1, 2, 3].map(moment);
  const { moments } = await combined.judgeMoments!(
    frames,
    [question('person', 'A person is visible')],
    { previous: frameOf(9) },
    never,
  );
  expect(asked).toEqual([{ frames: [1, 3], conditions: ['A person is visible'], previous: 0 }]);
  expect(moments.map(([verdict]) => verdict?.explanation.endsWith('Judged by llava.'))).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test('a single unsure moment is a call about one frame, and a moment keeps its sure verdicts', async () => {
  const { combined, asked } = combine([[person], []]);
  const { moments } = await combined.judgeMoments!(
    [moment(0), moment(1)],
    [question('person', 'A person is visible'), question('car', 'A person and a bicycle')],
    {},
    never,
  );
  expect(asked).toEqual([{ frames: [0], conditions: ['A person and a bicycle'] }]);
  expect(moments.map((verdicts) => verdicts.map(({ triggered }) => triggered))).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('moments that are all sure make no call', async () => {
  const { combined, asked } = combine([[person], []]);
  const result = await combined.judgeMoments!(
    [moment(0), moment(1)],
    [question('person', 'A person is visible')],
    {},
    never,
  );
  expect(result).toMatchObject({ tokens: none, calls: [] });
  expect(asked).toEqual([]);
});

test('sure verdicts of a joint call outlive the failure of the second model, which is reported', async () => {
  const { combined } = combine([[person]], { judgeConditions: down });
  const questions = [question('person', 'A person is visible'), question('gate', 'The gate is open')];
  const result = await combined.judgeConditions!(media(), questions, never);
  expect(result.verdicts.map(({ condition_id }) => condition_id)).toEqual(['person']);
  expect(result).toMatchObject({ calls: [{ ...none, failed: true }], tokens: none });
  expect(result.failure).toBeInstanceOf(VisionError);
  await expect(combined.judgeConditions!(media(), questions.slice(1), never)).rejects.toThrow(VisionError);
});

test('a second model that is busy was not called', async () => {
  const busy = async () => {
    throw new ModelBusyError();
  };
  const { combined } = combine([[person]], { judgeConditions: busy });
  const questions = [question('person', 'A person is visible'), question('gate', 'The gate is open')];
  expect((await combined.judgeConditions!(media(), questions, never)).calls).toEqual([]);
});

test('a server that takes fewer frames is asked about each', async () => {
  const { combined } = combine([[perhaps], [perhaps]], {
    judgeMoments: async () => {
      throw new TooManyFramesError();
    },
  });
  await expect(
    combined.judgeMoments!([moment(0), moment(1)], [question('a', 'A person is visible')], {}, never),
  ).rejects.toThrow(TooManyFramesError);
});

test('a failure of the object model leaves its conditions to the second model', async () => {
  const { combined, asked } = combine([]);
  const first = combined.parts![0]!;
  vi.spyOn(first, 'judge').mockImplementation(down);
  await combined.judge(media(), 'A person is visible', never);
  expect(asked).toHaveLength(1);
});

test('a question with a sure answer is answered by the object model, an open one by the second model', async () => {
  const { combined } = combine([[person]]);
  expect(await combined.answer(frameOf(0), 'Is a person there?', never)).toMatchObject({
    triggered: true,
    tokens: none,
    judgedBy: { provider: 'objects' },
  });
  expect(await combined.answer(frameOf(0), 'How many persons are there?', never)).toMatchObject({
    answer: 'Two red cars.',
    judgedBy: { model: 'llava' },
  });
});

test('a summary is the work of the second model', async () => {
  expect(await combine([]).combined.summarize([], never)).toMatchObject({ summary: 'A quiet hour.', tokens });
});

test('a second model without joint calls is asked condition by condition', async () => {
  const { combined, asked } = combine([[]], {
    judgeConditions: undefined,
    judgeMoments: undefined,
  } as object);
  const result = await combined.judgeConditions!(
    media(),
    [question('a', 'The gate is open'), question('b', 'It rains')],
    never,
  );
  expect(asked.map(({ conditions }) => conditions)).toEqual([['The gate is open'], ['It rains']]);
  expect(result.tokens).toEqual({ input_tokens: 1800, output_tokens: 80 });
  expect(combined.judgeMoments).toBeUndefined();
});

test.each([
  ['A person is visible', 0.5, /yes or no where it is sure, llava the rest/],
  ['A person is at the door', 0.5, /answers no where it is sure/],
  ['A bicycle', 0.5, /answers yes where it is sure/],
  ['A red car', 0.5, /answers no where/],
  ['The gate is open', 1, /^Each check asks llava/],
])('the advice on "%s" says which model answers', (condition, askedShare, message) => {
  const explained = combine([]).combined.explainParts!(condition);
  expect(explained.askedShare).toBe(askedShare);
  expect(explained.message).toMatch(message);
});
