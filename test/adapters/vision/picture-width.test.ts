import { expect, test } from 'vitest';
import { withPictureWidth } from '../../../adapters/vision/picture-width.ts';
import { VisionError } from '../../../core/errors.ts';
import type { CheckMedia, VisionModel } from '../../../core/ports/vision-model.ts';

const tokens = { input_tokens: 1, output_tokens: 1 };
const shrink = async (jpeg: Uint8Array, widthPixels: number) => new Uint8Array([widthPixels, ...jpeg]);

function recording() {
  const seen: CheckMedia[] = [];
  const model: VisionModel = {
    provider: 'test',
    model: 'test',
    supportsVideo: true,
    usesPrevious: true,
    conditionExamples: ['A car is there.'],
    reasonNotToJudge: () => 'never',
    prepare: async () => undefined,
    judge: async (media) => {
      seen.push(media);
      return { triggered: false, explanation: 'no', tokens };
    },
    judgeConditions: async (media) => {
      seen.push(media);
      return { verdicts: [], tokens };
    },
    judgeMoments: async (frames, _, { previous }) => {
      seen.push(
        ...frames.map(({ frame }) => ({ mode: 'frames' as const, frame, ...(previous && { previous }) })),
      );
      return { moments: [], tokens };
    },
    answer: async () => ({ answer: 'x', triggered: null, tokens }),
    summarize: async () => ({ summary: 'x', tokens }),
  };
  return { seen, model };
}
const media: CheckMedia = {
  mode: 'hybrid',
  frame: new Uint8Array([1]),
  previous: new Uint8Array([2]),
  clip: new Uint8Array([3]),
};
const { signal } = new AbortController();

test('frames of checks are scaled, alone and joint, and the clip is unchanged', async () => {
  const { seen, model } = recording();
  const scaled = withPictureWidth(model, 44, shrink);
  await scaled.judge(media, 'x', signal);
  await scaled.judgeConditions?.(media, [], signal);
  const expected = { ...media, frame: new Uint8Array([44, 1]), previous: new Uint8Array([44, 2]) };
  expect(seen).toEqual([expected, expected]);
});

test('each frame of a call for several is scaled, and the frame of the check before too', async () => {
  const { seen, model } = recording();
  const frames = [3, 4].map((name) => ({ frame: new Uint8Array([name]), at: new Date(name) }));
  const previous = new Uint8Array([2]);
  await withPictureWidth(model, 44, shrink).judgeMoments?.(frames, [], { previous }, signal);
  expect(seen).toEqual(
    [3, 4].map((name) => ({
      mode: 'frames',
      frame: new Uint8Array([44, name]),
      previous: new Uint8Array([44, 2]),
    })),
  );
});

test('a scaled model keeps everything else that its model offers', () => {
  const { model } = recording();
  const scaled = withPictureWidth(model, 44, shrink);
  expect(Object.keys(scaled).toSorted()).toEqual(Object.keys(model).toSorted());
  const { judgeConditions: _, ...alone } = model;
  expect(withPictureWidth(alone, 44, shrink)).not.toHaveProperty('judgeConditions');
});

test('a frame that cannot be scaled is a failure of the check', async () => {
  const failing = withPictureWidth(recording().model, 44, async () => {
    throw new Error('not a JPEG');
  });
  await expect(failing.judge(media, 'x', signal)).rejects.toBeInstanceOf(VisionError);
});
