import { expect, test } from 'vitest';
import { measurePicture } from '../../../../adapters/vision/pixel/measure-picture.ts';

const size = { width: 16, height: 8 };
const red = () => new Uint8Array(size.width * size.height * 3).map((_, at) => (at % 3 === 0 ? 200 : 10));

test('a picture that several jobs judge is measured once', () => {
  const picture = red();
  const facts = measurePicture(picture, size);
  expect(facts.shares.red).toBe(1);
  expect(measurePicture(picture, size)).toBe(facts);
  expect(measurePicture(red(), size)).not.toBe(facts);
});
