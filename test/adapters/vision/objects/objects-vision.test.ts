import { describe, expect, test } from 'vitest';
import { ModelBusyError, VisionError } from '../../../../core/vision-errors.ts';
import {
  type Detection,
  DetectorBusyError,
  DetectorError,
} from '../../../../adapters/vision/objects/detector.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';
import { judge, modelThatSees, never, object } from './model-that-sees.ts';
import { judgeCondition, alwaysLoaded } from '../../../../core/ports/vision-model.ts';

const red = [200, 20, 20];

test('several conditions are one call with one detection, each with its own verdict and boxes', async () => {
  const { model, seen } = modelThatSees([[object('person', 0.9), object('truck', 0.9, 0.6)]]);
  const conditions = ['a person is in the picture', 'a dog is in the picture', 'the ferret looks guilty'];
  const questions = conditions.map((condition, index) => ({ condition_id: `id-${index}`, condition }));
  const media = { mode: 'frames', frame: new Uint8Array() } as const;
  const { moments } = await model.judge(media, questions, never);
  expect(moments[0]).toMatchObject([
    { condition_id: 'id-0', triggered: true, boxes: [{ score: 0.9 }] },
    { condition_id: 'id-1', triggered: false },
    { condition_id: 'id-2', triggered: null },
  ]);
  expect(moments[0]?.[1]).not.toHaveProperty('boxes');
  expect(seen).toEqual([0]);
});

describe('a condition that the model cannot judge', () => {
  test('a sentence without known objects is not judged, nor are words that are not understood beside a doubtful object', async () => {
    expect(await judge('the ferret looks guilty', [])).toMatchObject({ triggered: false, judged: false });
    expect(await judge('a person falls', [object('person', 0.2)])).toMatchObject({ judged: false });
    expect(await judge('a person is in the picture', [object('person', 0.9)])).not.toHaveProperty('judged');
  });

  test.each(['nobody is in the room', 'a person is in the room'])(
    'a doubtful object is judged, and "%s" does not hold',
    async (condition) => {
      const verdict = await judge(condition, [object('person', 0.2)]);
      expect(verdict.triggered).toBe(false);
      expect(verdict).not.toHaveProperty('judged');
      expect(verdict.explanation).toMatch(/perhaps 1 person \(0\.20\)/);
    },
  );

  test('a creation learns which sentences no capture can decide', () => {
    const { model } = modelThatSees([]);
    const reason = (condition: string) => model.capabilities.readCondition(condition).reasonNotToJudge;
    expect(reason('the ferret looks guilty')).toMatch(/, not 'ferret', 'looks', 'guilty'$/);
    expect(model.capabilities.conditionExamples.map(reason)).toEqual([null, null, null]);
    expect(reason('a person falls')).toMatch(/sentences, not 'falls'$/);
    expect(reason('a person unless it is dark')).toMatch(/not 'unless'/);
    expect(reason('the lights are on')).toMatch(/not 'lights', 'on'$/);
    expect(reason('ein Mann ist an der Tür')).toMatch(
      /English sentences, not 'ein', 'mann', 'ist', 'der', 'tür'$/,
    );
    expect(reason('a person falls or a dog is there')).toBeNull();
    expect(reason('a person without a dog')).toMatch(/not 'without'$/);
    expect(reason('a person walks into the yard')).toBeNull();
  });
});

describe('judging a frame', () => {
  test.each<[string, Detection[], boolean]>([
    ['a person is in the picture', [object('person', 0.3)], true],
    ['a person is in the picture', [object('person', 0.29)], false],
    ['nobody is in the room', [object('person', 0.14)], true],
    ['nobody is in the room', [object('person', 0.2)], false],
    ['two people', [object('person', 0.7), object('person', 0.4, 0.6)], true],
    ['two people', [object('person', 0.7), object('person', 0.2, 0.6)], false],
    ['3 people', [object('person', 0.7), object('person', 0.28, 0.4), object('person', 0.25, 0.7)], true],
    ['3 people', [object('person', 0.7), object('person', 0.28, 0.4), object('person', 0.28, 0.11)], false],
    ['3 dogs', [object('dog', 0.7), object('dog', 0.28, 0.4), object('dog', 0.28, 0.7)], false],
    ['fewer than two people', [object('person', 0.7)], true],
    ['fewer than two people', [object('person', 0.7), object('person', 0.2, 0.6)], false],
    ['exactly one person', [object('person', 0.7)], true],
    ['a person or a dog', [object('dog', 0.7)], true],
    ['a person and a dog', [object('dog', 0.7)], false],
    ['a vehicle', [object('bus', 0.4)], true],
    ['a grey car', [object('car', 0.6)], true],
    ['a red car', [object('car', 0.6)], false],
    ['a person falls', [object('person', 0.9)], false],
    ['a person falls', [], false],
    ['nobody is smoking', [], false],
    ['a person and it is dark', [object('person', 0.9)], false],
    ['a person and the picture is grey', [object('person', 0.9)], true],
    ['a person is in the yard at night', [object('person', 0.9)], true],
  ])('The condition "%s" with the objects %o is judged as %s', async (condition, detections, triggered) => {
    const verdict = await judge(condition, detections);
    expect(verdict, verdict.explanation).toMatchObject({
      triggered,
      tokens: { input_tokens: 0, output_tokens: 0 },
    });
  });

  test.each([
    ['an orange vest in the light', [255, 110, 30], 'a person in orange', true],
    ['an orange vest with red and brown shades', [230, 70, 30], 'a person in an orange vest', true],
    [
      'a fluorescent orange vest, whose red has a hue of 11 degrees',
      [212, 73, 42],
      'a person in orange',
      true,
    ],
    ['a red jacket', [200, 20, 30], 'a person in orange', false],
    ['a red jacket of a hue of 5 degrees', [210, 40, 25], 'a person in orange', false],
    ['a red jacket', [200, 20, 30], 'someone wearing a red jacket', true],
  ])('A person with %s of the color %j is judged for "%s" as %s', async (_, color, condition, triggered) => {
    // The box has grey background beside a body of half its width; the vest covers a third of the height, with stripes.
    const paint = (x: number, y: number) => {
      const isVest = x >= 0.25 && x < 0.75 && y >= 0.18 && y < 0.5 && Math.floor(y * 40) % 4 !== 0;
      const isShade = color[0] === 230 && Math.floor(x * 40) % 3 === 0;
      return isVest ? (isShade ? [250, 110, 40] : color) : [128, 128, 128];
    };
    const box = { x: 0, y: 0, width: 1, height: 1 };
    const size = { width: 64, height: 36 };
    const model = createObjectsVision({
      decoder: {
        decode: async () =>
          Uint8Array.from(
            Array.from({ length: size.width * size.height }, (__, at) =>
              paint((at % size.width) / size.width, Math.floor(at / size.width) / size.height),
            ).flat(),
          ),
        decodeEach: async () => [],
        decodeClip: async () => [],
      },
      detector: {
        inputSize: () => size,
        detect: async () => [{ object: 'person', score: 0.8, box }],
        close: async () => undefined,
      },
    });
    const media = { mode: 'frames' as const, frame: new Uint8Array() };
    expect(await judgeCondition(model, media, { condition }, never)).toMatchObject({ triggered });
  });

  test('The verdict has the boxes of the objects that the condition names', async () => {
    const { boxes } = await judge('a person', [
      object('person', 0.741),
      object('dog', 0.9),
      object('person', 0.2, 0.7),
    ]);
    expect(boxes).toEqual([{ label: 'person', score: 0.741, x: 0.1, y: 0.2, width: 0.2, height: 0.5 }]);
  });

  test('One box that is reported as car and as truck is one vehicle', async () => {
    const verdict = await judge('two vehicles', [object('car', 0.6), object('truck', 0.5)]);
    expect(verdict.triggered).toBe(false);
  });

  test('The explanation has counts and scores and names what is not judged', async () => {
    const people = [object('person', 0.74), object('person', 0.41, 0.6)];
    expect((await judge('two men are at the door', people)).explanation).toBe(
      "Looks like 2 persons (0.74, 0.41). Not judged: 'men' (any person counts), 'at the door'. Judged by the built-in model, which is not a vision-language model.",
    );
    expect((await judge('a dog or a cat', people)).explanation).toContain('no dog and no cat.');
    expect((await judge('a cat falls', people)).explanation).toContain("no cat. Not judged: 'falls'.");
    expect((await judge('a red car', [object('car', 0.5)])).explanation).toContain(
      '1 car (0.50), none of them red',
    );
    expect((await judge('a dog', [object('dog', 0.2)])).explanation).toContain('perhaps 1 dog (0.20)');
  });

  test('The explanation names the low scores that leave a count undecided, and counts each class', async () => {
    const doubtful = [object('person', 0.42), object('person', 0.2, 0.6)];
    const onlyOne = await judge('only one person is in the picture', doubtful);
    expect(onlyOne.triggered).toBe(false);
    expect(onlyOne.explanation).toMatch(/^Looks like 1 person \(0\.42\), perhaps 1 more \(0\.20\)\. Judged/);
    const mixed = [object('car', 0.51), object('person', 0.42, 0.6), object('person', 0.4, 0.3)];
    expect((await judge('neither a person nor a car is here', mixed)).explanation).toContain(
      'Looks like 2 persons (0.42, 0.40) and 1 car (0.51).',
    );
  });

  test('a condition that is not understood names its words, in any language, and what the model can do', async () => {
    for (const [condition, words] of [
      ['a parcel lies on the doormat', "'parcel', 'lies', 'on the doormat'"],
      ['ein Hund ist an der Tür', "'ein', 'hund', 'ist', 'der', 'tür'"],
    ] as const) {
      const { triggered, explanation } = await judge(condition, [object('person', 0.74)]);
      expect(triggered).toBe(false);
      expect(explanation).toMatch(
        /^Cannot be checked: no part of it is understood\. .*WATCHPOST_VISION=bedrock/,
      );
      expect(explanation).toContain(words);
    }
  });

  test('a condition without an object is measured, and the network does not run', async () => {
    const { model, decoder, seen } = modelThatSees([[object('person', 0.9)]], { tone: red });
    const measuring = createObjectsVision({ decoder, detector: null });
    for (const condition of [
      'the picture is red',
      'it is dark',
      'no red or blue',
      'at least 20 % is green',
      'something moves',
    ]) {
      const media = { mode: 'frames', frame: new Uint8Array() } as const;
      expect(await judgeCondition(model, media, { condition }, never)).toEqual(
        await judgeCondition(measuring, media, { condition }, never),
      );
    }
    expect(seen).toEqual([]);
  });

  test('A failed detector is a failure of the model', async () => {
    const { decoder } = modelThatSees([]);
    const model = createObjectsVision({
      decoder,
      detector: {
        inputSize: () => ({ width: 64, height: 36 }),
        detect: async () => {
          throw new DetectorError('The object detector stopped');
        },
        close: async () => undefined,
      },
    });
    const media = { mode: 'frames', frame: new Uint8Array() } as const;
    const call = judgeCondition(model, media, { condition: 'a person' }, never);
    await expect(call).rejects.toThrow(VisionError);
  });

  test.each([
    ['has too many images', new DetectorBusyError('256 images wait')],
    ['is not done in time', new DOMException('timeout', 'TimeoutError')],
  ])('a detector that %s is a busy model, not a failed one', async (_, error) => {
    const detector = {
      inputSize: () => ({ width: 64, height: 36 }),
      detect: async () => {
        throw error;
      },
      close: async () => undefined,
    };
    const { decoder } = modelThatSees([]);
    const model = createObjectsVision({ decoder, detector });
    const media = { mode: 'frames', frame: new Uint8Array() } as const;
    const call = judgeCondition(model, media, { condition: 'a person' }, never);
    await expect(call).rejects.toThrow(ModelBusyError);
  });
});

describe('questions', () => {
  const people = [object('person', 0.74), object('person', 0.41, 0.6), object('dog', 0.5, 0.4)];
  const ask = async (question: string, detections = people) =>
    modelThatSees([detections]).model.answer(new Uint8Array(), question, never);

  test.each<[string, boolean | null, RegExp]>([
    ['How many people are there?', null, /^Looks like 2 persons \(0\.74, 0\.41\)\./],
    ['Is there a person?', true, /^Yes\. Looks like 2 persons/],
    ['Is there a cat?', false, /^No\. Looks like no cat/],
    ['Is a person smoking?', null, /^Not sure\. .*Not judged: 'smoking'/],
    [
      'What do you see?',
      null,
      /^Looks like 2 persons \(0\.74, 0\.41\), 1 dog \(0\.50\)\. The frame is 100\.0 % grey/,
    ],
    ['What color is the dog?', null, /^Looks like 1 dog \(0\.50\): grey\./],
    ['How many birds are there?', null, /^Looks like no bird\./],
    ['How many grey dogs are there?', null, /^Looks like 1 grey dog \(0\.50\)\./],
    ['How many white dogs are there?', null, /^Looks like 1 dog \(0\.50\), none of them white\./],
    ['How many people are smoking?', null, /^Cannot be checked.*Looks like 2 persons/],
    ['What is the man doing?', null, /^Looks like 2 persons .*Not judged: 'What is the man doing\?'/],
    ['How many parcels are there?', null, /Not judged: 'How many parcels are there\?'/],
  ])('"%s" is answered with %s', async (question, triggered, answer) => {
    const result = await ask(question);
    expect(result.triggered).toBe(triggered);
    expect(result.answer).toMatch(answer);
  });

  test.each(['What color is the picture?', 'How dark is it?', 'Is it dark?', 'Is the picture red?'])(
    '"%s" is answered by measurements',
    async (question) => {
      const { model, decoder } = modelThatSees([people]);
      expect(await model.answer(new Uint8Array(), question, never)).toEqual(
        await createObjectsVision({ decoder, detector: null }).answer(new Uint8Array(), question, never),
      );
    },
  );
});

test('A digest lists what came and went, by class and time', async () => {
  const person = object('person', 0.7);
  const { model } = modelThatSees([[person], [person, object('person', 0.6, 0.5)], [object('car', 0.5)]]);
  const samples = [0, 1, 2].map((minute) => ({
    frame: new Uint8Array(),
    capturedAt: new Date(Date.UTC(2026, 0, 1, 10, minute)),
  }));
  const { summary } = await model.summarize(samples, never);
  expect(summary).toContain(
    'Looks like up to 2 persons in 2 of 3 samples, from 10:00:00 UTC to 10:01:00 UTC. Looks like 1 car in 1 of 3 samples, at 10:02:00 UTC. At 10:02:00 UTC: car came; person went.',
  );
  expect(summary).toMatch(/3 samples from .* Judged by the built-in model/);
});

test('A digest counts a class whose best score is below 0.4 as doubtful', async () => {
  const { model } = modelThatSees([[object('person', 0.9), object('sheep', 0.35)], [object('person', 0.35)]]);
  const samples = [0, 1].map((at) => ({ frame: new Uint8Array(), capturedAt: new Date(at * 1000) }));
  const { summary } = await model.summarize(samples, never);
  expect(summary).toMatch(
    /^Looks like 1 person in 2 of 2 samples.* No object came or went\. Not sure: sheep\./,
  );
});

test('A digest of many samples detects 60 of them, spread over the window', async () => {
  const { model, seen } = modelThatSees([]);
  const samples = Array.from({ length: 120 }, (_, at) => ({
    frame: new Uint8Array(),
    capturedAt: new Date(at * 1000),
  }));
  await model.summarize(samples, never);
  expect(seen).toHaveLength(60);
});

test('nothing is loaded before a condition names an object', async () => {
  const { model, seen } = modelThatSees([]);
  expect(model.lifecycle).toBe(alwaysLoaded);
  const media = { mode: 'frames', frame: new Uint8Array() } as const;
  for (const condition of ['it is dark', 'the ferret looks guilty', 'no red', 'a parcel or a ferret'])
    await judgeCondition(model, media, { condition }, never);
  expect(seen).toEqual([]);
  await judgeCondition(model, media, { condition: 'a person' }, never);
  expect(seen).toEqual([0]);
});

test('an object is not judged without a detector, and the command that installs it is named', async () => {
  const { decoder } = modelThatSees([]);
  const measuring = createObjectsVision({ decoder, detector: null });
  const media = { mode: 'frames', frame: new Uint8Array() } as const;
  expect(await judgeCondition(measuring, media, { condition: 'a person is there' }, never)).toMatchObject({
    judged: false,
    triggered: false,
    explanation: expect.stringContaining('not installed (run npm install --include=optional)'),
  });
  const { readCondition, conditionExamples } = measuring.capabilities;
  const reason = (condition: string) => readCondition(condition).reasonNotToJudge;
  expect(reason('a person is there')).toMatch(/measures colors.*\(run npm install --include=optional\)$/);
  expect(conditionExamples.map(reason)).toEqual([null, null, null]);
  expect(await judgeCondition(measuring, media, { condition: 'the picture is grey' }, never)).toMatchObject({
    triggered: true,
  });
});

test('an object counts if its lower edge stands in a watched region', async () => {
  // Its box reaches from 0.1 to 0.3 and down to 0.7.
  const { model } = modelThatSees([[object('person', 0.9)]]);
  const region = (mode: 'include' | 'exclude', y1: number, y2: number) => ({
    mode,
    points: [
      [0, y1],
      [1, y1],
      [1, y2],
      [0, y2],
    ],
  });
  const judge = async (...regions: ReturnType<typeof region>[]) =>
    (
      await judgeCondition(
        model,
        { mode: 'frames', frame: new Uint8Array(3), regions },
        { condition: 'A person is there' },
        never,
      )
    ).triggered;
  expect(await judge(region('include', 0.6, 1))).toBe(true);
  expect(await judge(region('include', 0, 0.6))).toBe(false);
  expect(await judge(region('exclude', 0.6, 0.8))).toBe(false);
});

describe('sensitivity', () => {
  const perhaps = object('person', 0.2);
  const media = { mode: 'frames' as const, frame: new Uint8Array() };

  test.each([
    ['A person is there', 'normal', false],
    ['A person is there', 'high', true],
    ['Nobody is there', 'normal', false],
    ['Nobody is there', 'high', false],
    ['At most one person', 'high', true],
  ] as const)(
    '"%s" with a person of 0.2 is judged at sensitivity %s as %s',
    async (condition, sensitivity, holds) => {
      const { model } = modelThatSees([[perhaps]]);
      const { triggered, explanation } = await judgeCondition(
        model,
        media,
        { condition, sensitivity },
        never,
      );
      expect(triggered, explanation).toBe(holds);
    },
  );

  test('an object that counts at high sensitivity has its box and its score', async () => {
    const { model } = modelThatSees([[perhaps]]);
    const verdict = await judgeCondition(
      model,
      media,
      { condition: 'A person is there', sensitivity: 'high' },
      never,
    );
    expect(verdict.boxes).toMatchObject([{ label: 'person', score: 0.2 }]);
    expect(verdict.explanation).toContain('Looks like 1 person (0.20).');
  });

  test('sensitive conditions of a capture leave the others as they are', async () => {
    const { model } = modelThatSees([[perhaps]]);
    const condition = 'A person is there';
    const { moments } = await model.judge(
      media,
      [
        { condition_id: 'high', condition, sensitivity: 'high' },
        { condition_id: 'normal', condition },
      ],
      never,
    );
    expect(moments[0]?.map(({ triggered }) => triggered)).toEqual([true, false]);
  });
});
