import { expect, test } from 'vitest';
import { withPictureWidth } from '../../../adapters/vision/picture-width.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { type CheckMedia, judgeCondition } from '../../../core/ports/vision-model.ts';
import { scriptedModel } from '../../support/scripted-model.ts';

const tokens = { input_tokens: 1, output_tokens: 1 };
const shrink = async (jpeg: Uint8Array, widthPixels: number) => new Uint8Array([widthPixels, ...jpeg]);

function recording() {
  const seen: CheckMedia[] = [];
  const model = scriptedModel({
    judge: async (given) => {
      seen.push(given);
      return { moments: [], tokens };
    },
  });
  return { seen, model };
}
const media: CheckMedia = {
  mode: 'hybrid',
  frame: new Uint8Array([1]),
  previous: new Uint8Array([2]),
  clip: new Uint8Array([3]),
  earlier: [{ frame: new Uint8Array([4]), secondsBefore: 2 }],
  regions: [],
};
const { signal } = new AbortController();

test('each frame of a check is scaled, and the clip is unchanged', async () => {
  const { seen, model } = recording();
  await withPictureWidth(model, 44, shrink).judge(media, [], signal);
  expect(seen).toEqual([
    {
      ...media,
      frame: new Uint8Array([44, 1]),
      previous: new Uint8Array([44, 2]),
      earlier: [{ frame: new Uint8Array([44, 4]), secondsBefore: 2 }],
    },
  ]);
});

test('a frame that cannot be scaled is a failure of the check', async () => {
  const failing = withPictureWidth(recording().model, 44, async () => {
    throw new Error('not a JPEG');
  });
  await expect(judgeCondition(failing, media, { condition: 'x' }, signal)).rejects.toBeInstanceOf(
    VisionError,
  );
});
