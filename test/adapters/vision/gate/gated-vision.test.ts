import { describe, expect, test } from 'vitest';
import { findMissing } from '../../../../adapters/vision/gate/gated-vision.ts';
import { TooManyFramesError } from '../../../../core/vision-errors.ts';
import { type CheckMedia, type VisionModel, judgeCondition } from '../../../../core/ports/vision-model.ts';
import type { ConditionQuestion } from '../../../../core/records/vision.ts';
import { never, object } from '../objects/model-that-sees.ts';
import { frameOf, gateThatSees } from './scenes.ts';
import { scriptedModel } from '../../../support/scripted-model.ts';

const tokens = { input_tokens: 900, output_tokens: 40 };
const none = { input_tokens: 0, output_tokens: 0 };
const person = object('person', 0.8);
const perhaps = object('person', 0.2);

/** Model that says yes to all that it is asked. */
function yesModel(given: Partial<VisionModel> = {}) {
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
  const model = scriptedModel({
    provider: 'openai',
    model: 'llava',
    judge: async ({ earlier = [], frame, previous }, questions) => {
      const frames = [...earlier.map((before) => before.frame), frame];
      note(frames, questions, previous);
      return { moments: frames.map(() => questions.map(yes)), tokens };
    },
    answer: async () => ({ answer: 'Two red cars.', triggered: null, tokens }),
    summarize: async () => ({ summary: 'A quiet hour.', tokens }),
    ...given,
  });
  return { model, asked };
}

function openGate(
  seen: Parameters<typeof gateThatSees>[1],
  given?: Partial<VisionModel>,
  options?: Parameters<typeof gateThatSees>[2],
) {
  const { model, asked } = yesModel(given);
  return { ...gateThatSees(model, seen, options), asked };
}

const question = (condition_id: string, condition: string) => ({ condition_id, condition });
const media = (index = 0) => ({ mode: 'frames' as const, frame: frameOf(index) });
/** Media of the frame 1, and the frame 0 a second before. */
const twoMoments: CheckMedia = { ...media(1), earlier: [{ frame: frameOf(0), secondsBefore: 1 }] };
const visible = 'A person is visible';

test('a gate has the name of the model behind it', () => {
  const { provider, model } = openGate([]).gate;
  expect([provider, model]).toEqual(['objects+openai', 'objects+llava']);
});

test('a condition whose object leaves no trace is denied without a call, which the explanation says', async () => {
  const { gate, asked } = openGate([[]]);
  const verdict = await judgeCondition(gate, media(), { condition: visible }, never);
  expect(verdict).toMatchObject({ triggered: false, tokens: none, calls: [] });
  expect(verdict.explanation).toBe(
    'No trace of person. Judged by the built-in object detector, without a call.',
  );
  expect(asked).toEqual([]);
});

test('a trace of the object is left to the model, whose name is in the explanation', async () => {
  const { gate, asked } = openGate([[perhaps]]);
  expect(await judgeCondition(gate, media(), { condition: visible }, never)).toEqual({
    triggered: true,
    tokens,
    explanation: 'It is. Judged by llava.',
    prompt_version: 'verdict-first-1',
  });
  expect(asked).toHaveLength(1);
});

test('an object that is there is left to the model too: the gate never says yes', async () => {
  const { gate, asked } = openGate([[person], []]);
  await judgeCondition(gate, media(0), { condition: visible }, never);
  await judgeCondition(gate, media(1), { condition: 'Nobody is visible' }, never);
  expect(asked.map(({ conditions }) => conditions)).toEqual([[visible], ['Nobody is visible']]);
});

test('a condition that the gate can never deny costs no detection', async () => {
  const { gate, asked, detected } = openGate([[person]]);
  await judgeCondition(gate, media(), { condition: 'The gate is open' }, never);
  await judgeCondition(gate, media(), { condition: 'A knife' }, never);
  expect(asked).toHaveLength(2);
  expect(detected).toEqual([]);
});

test('a trace in any picture of a clip is left to the model', async () => {
  const { gate, asked } = openGate([[], [], [perhaps]]);
  const clip = (...pictures: number[]) => new Uint8Array(pictures);
  const judge = (given: Uint8Array) =>
    judgeCondition(gate, { mode: 'clip', frame: frameOf(0), clip: given }, { condition: visible }, never);
  expect((await judge(clip(1, 1, 1))).triggered).toBe(false);
  expect(asked).toEqual([]);
  expect((await judge(clip(1, 1, 2, 2))).triggered).toBe(true);
});

test('several conditions in one call send the model only those that are not denied', async () => {
  const { gate, asked } = openGate([[person]]);
  const questions = [
    question('person', visible),
    question('gate', 'The gate is open'),
    question('dog', 'A dog'),
  ];
  const { moments, calls } = await gate.judge(media(), questions, never);
  expect(asked).toEqual([{ frames: [0], conditions: [visible, 'The gate is open'] }]);
  const triggered = moments.flat().map((verdict) => [verdict.condition_id, verdict.triggered]);
  expect(Object.fromEntries(triggered)).toEqual({ person: true, dog: false, gate: true });
  expect(calls, 'one call, with the tokens of the answer').toBeUndefined();
  expect(await gate.judge(media(), questions.slice(2), never)).toMatchObject({
    tokens: none,
    calls: [],
  });
});

test('several moments are one call about the conditions that some of them may fulfil, and each keeps what is denied in it', async () => {
  const { gate, asked } = openGate([[], [perhaps]]);
  const questions = [question('person', visible), question('dog', 'A dog')];
  const { moments } = await gate.judge({ ...twoMoments, previous: frameOf(9) }, questions, never);
  expect(asked).toEqual([{ frames: [0, 1], conditions: [visible], previous: 9 }]);
  expect(
    moments.map((entries) => entries.map(({ condition_id, triggered }) => [condition_id, triggered])),
  ).toEqual([
    [
      ['person', false],
      ['dog', false],
    ],
    [
      ['dog', false],
      ['person', true],
    ],
  ]);
});

test('a server that takes fewer frames says so through the gate', async () => {
  const judge = async () => {
    throw new TooManyFramesError();
  };
  const { gate } = openGate([[perhaps], [perhaps]], { judge });
  const call = gate.judge(twoMoments, [question('a', visible)], never);
  await expect(call).rejects.toThrow(TooManyFramesError);
});

test('a detector that fails leaves all conditions to the model, and is reported once, as is its recovery', async () => {
  const { gate, asked, reports } = openGate([[]]);
  await judgeCondition(gate, media(7), { condition: visible }, never);
  await judgeCondition(gate, media(7), { condition: visible }, never);
  expect(asked).toHaveLength(2);
  await judgeCondition(gate, media(0), { condition: visible }, never);
  expect(reports).toEqual([
    'the object detector fails: each check asks llava',
    'the object detector works again',
  ]);
});

test('a question is denied like a condition, and an open one is left to the model', async () => {
  const { gate } = openGate([[]]);
  expect(await gate.answer(frameOf(0), 'Is a person there?', never)).toMatchObject({
    answer: expect.stringMatching(/^No\. No trace of person/),
    triggered: false,
    calls: [],
  });
  expect((await gate.answer(frameOf(0), 'How many persons are there?', never)).answer).toBe('Two red cars.');
  expect((await gate.summarize([], never)).summary).toBe('A quiet hour.');
});

describe('what the gate denies', () => {
  const dog = object('dog', 0.1);
  test.each<[string, string, Parameters<typeof gateThatSees>[1][number], boolean]>([
    ['without a trace', 'A person', [], true],
    ['also what it does not judge', 'A person falls at the door', [], true],
    ['not with a trace', 'A person', [object('person', 0.05)], false],
    ['with a trace of another class', 'A person', [object('chair', 0.4)], true],
    ['not with a trace of an alike class', 'A cat', [dog], false],
    ['not small things, which the network overlooks', 'A knife', [], false],
    ['not behind one object, where others may stand', 'At least two persons', [person], false],
    ['one part that is missing', 'A person and a dog', [person], true],
    ['not one of two ways', 'A person or a cat', [dog], false],
    ['not an absence', 'Nobody is there', [], false],
    ['not at most so many', 'At most one person', [], false],
    ['not what is not understood', 'A person unless it is dark', [], false],
  ])('the gate denies %s', async (_, condition, seen, denied) => {
    const { gate } = openGate([seen]);
    expect((await judgeCondition(gate, media(), { condition }, never)).calls !== undefined).toBe(denied);
  });

  test.each([
    ['in the dark', [10, 60]],
    ['without contrast', [120, 126]],
  ])('the gate denies nothing in a picture %s', async (_, tones) => {
    const { gate, asked } = openGate([[]], undefined, { tones });
    await judgeCondition(gate, media(), { condition: visible }, never);
    expect(asked).toHaveLength(1);
  });

  test('a person outside of the watched region is a trace: the edge of a region divides nobody', async () => {
    const { gate, asked } = openGate([[object('person', 0.9, 0.6)]]);
    const points: [number, number][] = [
      [0, 0],
      [0.5, 0],
      [0.5, 1],
      [0, 1],
    ];
    await judgeCondition(
      gate,
      { ...media(), regions: [{ mode: 'include', points }] },
      { condition: visible },
      never,
    );
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['A person and a car', ['person']],
    ['A red car', ['car']],
    ['The picture is dark', undefined],
  ])('"%s" does not hold without %j', (condition, missing) => {
    expect(findMissing(condition)?.slice(0, 1)).toEqual(missing);
  });
});
