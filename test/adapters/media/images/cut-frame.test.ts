import { expect, test } from 'vitest';
import { createCutFrame } from '../../../../adapters/media/images/draw-boxes.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { mp4 } from '../../vision/pixel/pictures.ts';

const never = new AbortController().signal;
const size = { width: 32, height: 18 };
const framesPerSecond = 4;
const decoder = createImageDecoder({ ffmpegPath: 'ffmpeg' });
const cutFrame = createCutFrame({ ffmpegPath: 'ffmpeg', framesPerSecond });

test('the frame of a clip at a time is the one that the model has judged', async () => {
  // Brightness grows with time, so that each frame has a level of its own.
  const clip = mp4('color=black:s=320x180:r=10,format=gray,geq=lum=20+60*T');
  const judged = await decoder.decodeClip(clip, size, framesPerSecond, never);
  for (const atSeconds of [0, 1.5, 2.5]) {
    const jpeg = await cutFrame(clip, atSeconds, never);
    const [level = 0] = await decoder.decode(jpeg ?? new Uint8Array(), size, never);
    const levels = judged.map(([first = 0]) => Math.abs(first - level));
    expect(levels.indexOf(Math.min(...levels))).toBe(atSeconds * framesPerSecond);
  }
});

test('a clip that cannot be decoded, and a time after its end, have no frame', async () => {
  expect(await cutFrame(Buffer.from('no clip'), 1, never)).toBeNull();
  expect(await cutFrame(mp4('color=gray:s=320x180:r=10'), 9, never)).toBeNull();
});
