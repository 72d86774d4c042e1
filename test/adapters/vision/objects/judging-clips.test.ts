import { describe, expect, test } from 'vitest';
import { VisionError } from '../../../../core/vision-errors.ts';
import type { ObjectDetector } from '../../../../adapters/vision/objects/detector.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';
import type { PictureDecoder } from '../../../../adapters/vision/pixel/image-decoder.ts';
import { judge, modelThatSees, never, object } from './model-that-sees.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

describe('judging a clip', () => {
  const person = [object('person', 0.7)];

  test('An object must be in more than one of its moments', async () => {
    expect((await judge('a person', [], [], person, [])).triggered).toBe(false);
    expect((await judge('a person', person, [], person, [])).triggered).toBe(true);
    expect((await judge('a person', person, [], [], [])).triggered).toBe(false);
  });

  test('An absence must hold in all moments', async () => {
    expect((await judge('no person', [], [], [])).triggered).toBe(true);
    expect((await judge('no person', [], [], person)).triggered).toBe(false);
    expect(
      (await judge('fewer than two people', [], [], [...person, object('person', 0.6, 0.6)])).triggered,
    ).toBe(false);
  });

  test('It reads the newest moments first, and no more than decide', async () => {
    const media = { mode: 'clip', frame: new Uint8Array(), clip: new Uint8Array() } as const;
    const present = modelThatSees([person, person, person, person]);
    await judgeCondition(present.model, media, { condition: 'a person' }, never);
    expect(present.seen).toEqual([0, 3]);
    const left = modelThatSees([person, [], [], []]);
    await judgeCondition(left.model, media, { condition: 'no person' }, never);
    expect(left.seen).toEqual([0]);
  });

  test('Several conditions on one capture detect its pictures once', async () => {
    const media = { mode: 'clip', frame: new Uint8Array(), clip: new Uint8Array() } as const;
    const { model, seen } = modelThatSees([person, [], []]);
    const verdicts = await Promise.all([
      judgeCondition(model, media, { condition: 'nobody is there' }, never),
      judgeCondition(model, media, { condition: 'a dog' }, never),
    ]);
    expect(verdicts.map(({ triggered }) => triggered)).toEqual([false, false]);
    const before = seen.length;
    expect((await judgeCondition(model, media, { condition: 'a dog or a cat' }, never)).triggered).toBe(
      false,
    );
    expect(seen).toHaveLength(before);
    await judgeCondition(model, { ...media, frame: new Uint8Array() }, { condition: 'a dog' }, never);
    expect(seen.length).toBeGreaterThan(before);
  });

  test('The boxes of an alert are those of the newest frame that shows it, with its time', async () => {
    const [first, second] = [object('person', 0.8, 0.5), object('person', 0.6, 0.2)];
    const left = await judge('a person', [], [first], [second], [], []);
    expect(left).toMatchObject({ triggered: true, shown_at_seconds: 0.5, boxes: [{ x: 0.2, score: 0.6 }] });
    expect(left.explanation).toMatch(/^At 0\.5 s of the clip: Looks like 1 person/);
    const present = await judge('a person', [first], [], [second]);
    expect(present).toMatchObject({ triggered: true, boxes: [{ x: 0.5 }] });
    expect(present).not.toHaveProperty('shown_at_seconds');
    const gone = await judge('nobody is there', [], [first], [second]);
    expect(gone).not.toHaveProperty('boxes');
    expect(gone).not.toHaveProperty('shown_at_seconds');
  });

  test('Motion is that of the clip', async () => {
    const moving = modelThatSees([person, person, person], { levels: [60, 200] });
    const media = { mode: 'clip', frame: new Uint8Array(), clip: new Uint8Array() } as const;
    expect(
      (
        await judgeCondition(
          moving.model,
          media,
          { condition: 'something moves and a person is there' },
          never,
        )
      ).triggered,
    ).toBe(true);
    const still = modelThatSees([person, person, person], { levels: [128, 128] });
    expect(
      (
        await judgeCondition(
          still.model,
          media,
          { condition: 'something moves and a person is there' },
          never,
        )
      ).triggered,
    ).toBe(false);
  });
});

test('the network evaluates the frame while the clip is decoded, and a clip that cannot be decoded is an error', async () => {
  const { decoder } = modelThatSees([]);
  const detecting = Promise.withResolvers<void>();
  const detector: ObjectDetector = {
    inputSize: () => ({ width: 64, height: 36 }),
    detect: async () => {
      detecting.resolve();
      return [object('person', 0.9)];
    },
    close: async () => undefined,
  };
  const decodeClip: PictureDecoder['decodeClip'] = async (clip, ...rest) => {
    await detecting.promise;
    return decoder.decodeClip(clip, ...rest);
  };
  const media = { mode: 'clip', frame: new Uint8Array(1), clip: new Uint8Array() } as const;
  const overlapping = createObjectsVision({ decoder: { ...decoder, decodeClip }, detector });
  expect(await judgeCondition(overlapping, media, { condition: 'a person' }, never)).toMatchObject({
    triggered: true,
  });
  const failing = createObjectsVision({
    decoder: { ...decoder, decodeClip: async () => Promise.reject(new Error('damaged')) },
    detector,
  });
  await expect(judgeCondition(failing, media, { condition: 'a person' }, never)).rejects.toThrow(VisionError);
});

test('checks of one capture in modes clip and hybrid decode its clip once, and an aborted one leaves it to the other', async () => {
  const { decoder } = modelThatSees([[], [], []]);
  let decodings = 0;
  const decodeClip: PictureDecoder['decodeClip'] = async (...given) => {
    decodings += 1;
    return decoder.decodeClip(...given);
  };
  const vision = createObjectsVision({
    decoder: { ...decoder, decodeClip },
    detector: {
      inputSize: () => ({ width: 64, height: 36 }),
      detect: async () => [object('person', 0.9)],
      close: async () => undefined,
    },
  });
  const capture = { frame: new Uint8Array(1), clip: new Uint8Array(1) };
  const aborted = new AbortController();
  const clip = judgeCondition(
    vision,
    { mode: 'clip', ...capture },
    { condition: 'a person' },
    aborted.signal,
  );
  const hybrid = judgeCondition(vision, { mode: 'hybrid', ...capture }, { condition: 'a person' }, never);
  aborted.abort();
  await expect(clip).rejects.toThrow(VisionError);
  expect(await hybrid).toMatchObject({ triggered: true });
  expect(decodings).toBe(1);
});
