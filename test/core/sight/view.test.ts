import { expect, test } from 'vitest';
import { thumbnail } from '../../../core/records/capture.ts';
import { compareViews, describeView, isTelling } from '../../../core/sight/view.ts';

const { width, height } = thumbnail;
type Picture = (x: number, y: number) => number;

/** A yard of walls, a door, a fence and a path, in pixels of the thumbnail, also beyond the picture. */
const yard: Picture = (x, y) => {
  if (y < 20 + x / 12) return 205;
  if (Math.abs(x - 45 - y / 3) < 3) return 60;
  if (x > 60 && x < 84 && y > 34 && y < 74) return x > 78 ? 40 : 80;
  if (y > 74 - x / 5) return (x + 2 * y) % 40 < 18 ? 120 : 150;
  if (x > 100) return (x - y / 2) % 22 < 9 ? 70 : 165;
  return x < 30 && y > 40 ? 100 : 180;
};
const other: Picture = (x, y) => {
  if (Math.hypot(x - 80, y - 45) < 30) return 60;
  return (x + y) % 36 < 17 ? 110 : 190;
};

function draw(picture: Picture, change: (value: number, x: number, y: number) => number = (value) => value) {
  const bytes = new Uint8Array(thumbnail.bytes).fill(128);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      bytes[y * width + x] = Math.round(Math.min(255, Math.max(0, change(picture(x, y), x, y))));
  return describeView(bytes);
}

const drawn = draw(yard);
const moved = (across: number, down: number): Picture => {
  return (x, y) => yard(x + across, y + down);
};
const noise = (size: number) => {
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return () => (random() + random() + random() - 1.5) * size;
};

test('a view has edges enough to be told, and a dark picture has not', () => {
  expect(isTelling(drawn)).toBe(true);
  expect(
    isTelling(
      draw(
        () => 12,
        (value) => value + noise(8)(),
      ),
    ),
  ).toBe(false);
});

test.each<[string, Picture, ((value: number, x: number, y: number) => number)?]>([
  ['at dusk', yard, (value) => value * 0.4 + 5],
  [
    'with the noise of a dark night',
    yard,
    (
      (rustle) => (value) =>
        value * 0.3 + rustle()
    )(noise(12)),
  ],
  [
    'in infrared, with a light spot',
    yard,
    (value, x, y) => value * 0.7 + 90 * Math.exp(-((x - 80) ** 2 + (y - 45) ** 2) / 1500),
  ],
  ['with a bright foreground in infrared', yard, (value) => 255 * (value / 255) ** 0.5],
  ['in fog', yard, (value) => 130 + value * 0.3],
  [
    'in snow',
    yard,
    (
      (flakes) => (value) =>
        value + Math.max(0, flakes() - 20) * 6
    )(noise(50)),
  ],
  ['with a hard shadow', yard, (value, x) => (x < 90 ? value * 0.5 : value)],
  ['with headlights', yard, (value, x, y) => (Math.hypot(x - 40, y - 60) < 14 ? 255 : value)],
  ['with somebody in front', yard, (value, x, y) => (x > 64 && x < 92 && y > 20 ? 50 : value)],
  ['on a shaking mast', moved(2, 1)],
])('the view stays the same %s', (_, picture, change) => {
  expect(compareViews(drawn, draw(picture, change))).not.toBe('other');
  expect(compareViews(drawn, draw(picture))).toBe('same');
});

test.each<[string, Picture]>([
  ['to the side by a fifth', moved(32, 0)],
  ['to the other side by a quarter', moved(-40, 0)],
  ['down by a third', moved(0, 30)],
  ['to another scene', other],
])('a camera that is turned %s shows another view, by day and at dusk', (_, picture) => {
  expect(compareViews(drawn, draw(picture))).toBe('other');
  expect(
    compareViews(
      drawn,
      draw(picture, (value) => value * 0.5 + 8),
    ),
  ).toBe('other');
});

test('a picture without edges says nothing about the view', () => {
  expect(
    compareViews(
      drawn,
      draw(() => 8),
    ),
  ).toBe('unclear');
  expect(
    compareViews(
      drawn,
      draw(yard, (value) => 128 + (value - 128) / 60),
    ),
  ).toBe('unclear');
});
