import { expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createDrawBoxes } from '../../../../adapters/media/images/draw-boxes.ts';
import { jpeg } from '../../vision/pixel/pictures.ts';

const never = new AbortController().signal;
const size = { width: 320, height: 180 };
const box = { label: 'person', score: 0.7, x: 0.25, y: 0.25, width: 0.5, height: 0.5 };

test('Each box is a green line on a copy, and the rest of the picture stays', async () => {
  const original = jpeg('color=gray:s=320x180');
  const drawn = await createDrawBoxes({ ffmpegPath: 'ffmpeg' })(original, [box], never);
  const rgb = await createImageDecoder({ ffmpegPath: 'ffmpeg' }).decode(drawn, size, never);
  const isGreen = (x: number, y: number) => {
    const [red = 0, green = 0, blue = 0] = rgb.subarray((y * size.width + x) * 3);
    return green > 150 && red < 100 && blue < 100;
  };
  expect([isGreen(160, 46), isGreen(81, 90), isGreen(160, 90), isGreen(20, 20)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('A picture that cannot be drawn is returned unchanged', async () => {
  const broken = Buffer.from('no picture');
  expect(await createDrawBoxes({ ffmpegPath: 'ffmpeg' })(broken, [box], never)).toBe(broken);
});
