import { blankFrame, type Frame } from './frame.ts';
import { type Random, randomFrom } from './random.ts';
import { picture, type Scene } from './scene.ts';
import { texture } from './texture.ts';

/** Margin around the frame for camera shake, in pixels. */
export const margin = 32;
const width = picture.width + 2 * margin;
const height = picture.height + 2 * margin;

/** Draws a textured still: drawn scenes with fractal noise. */
export function drawBackground({ kind, seed }: Scene['background']): Frame {
  const random = randomFrom(seed);
  switch (kind) {
    case 'hills':
      return hills(random, seed);
    case 'foliage':
      return foliage(random, seed);
    case 'street':
      return street(random, seed);
    case 'room':
      return room(random, seed);
  }
}

function hills(random: Random, seed: number): Frame {
  const frame = blankFrame(width, height);
  const texels = texture(width, height, seed, { cell: 200, octaves: 7, roughness: 0.55 });
  const ridge = texture(width, 1, seed + 1, { cell: 300, octaves: 5, roughness: 0.5 });
  const horizon = height * random.between(0.25, 0.5);
  const soil = random.between(60, 120);
  each(frame, (x, y, at) => {
    const edge = horizon + ridge[x]! * 160;
    if (y < edge) return { luma: 200 - (60 * y) / horizon + texels[at]! * 12, blueness: 142, redness: 118 };
    return { luma: soil + texels[at]! * 130, blueness: 112, redness: 122 };
  });
  return frame;
}

function foliage(random: Random, seed: number): Frame {
  const frame = blankFrame(width, height);
  const leaves = texture(width, height, seed, { cell: 90, octaves: 7, roughness: 0.75 });
  const level = random.between(70, 130);
  each(frame, (_, __, at) => ({ luma: level + leaves[at]! * 220, blueness: 108, redness: 112 }));
  return frame;
}

function street(random: Random, seed: number): Frame {
  const frame = blankFrame(width, height);
  const grain = texture(width, height, seed, { cell: 60, octaves: 6, roughness: 0.65 });
  const horizon = Math.round(height * random.between(0.4, 0.6));
  each(frame, (_, y, at) =>
    y < horizon
      ? { luma: 190 - y / 8 + grain[at]! * 14, blueness: 138, redness: 122 }
      : { luma: 70 + (y - horizon) / 8 + grain[at]! * 60, blueness: 128, redness: 128 },
  );
  for (let x = 0; x < width;) {
    const wide = random.whole(80, 240);
    const top = horizon - random.whole(100, 320);
    const wall = random.between(60, 180);
    const color = { blueness: random.between(108, 132), redness: random.between(122, 148) };
    rectangle(frame, x, top, wide, horizon - top, (at) => ({ luma: wall + grain[at]! * 40, ...color }));
    for (let windowY = top + 16; windowY < horizon - 40; windowY += 52) {
      for (let windowX = x + 14; windowX < x + wide - 34; windowX += 44) {
        const glass = random.between(30, 200);
        rectangle(frame, windowX, windowY, 24, 32, () => ({ luma: glass, blueness: 134, redness: 124 }));
      }
    }
    x += wide + random.whole(0, 40);
  }
  for (let mark = 0; mark < 12; mark += 1) {
    rectangle(frame, mark * 120, Math.round((horizon + height) / 2), 60, 10, () => paint);
  }
  return frame;
}

const paint = { luma: 190, blueness: 128, redness: 128 };

function room(random: Random, seed: number): Frame {
  const frame = blankFrame(width, height);
  const plaster = texture(width, height, seed, { cell: 150, octaves: 6, roughness: 0.5 });
  const floor = height * random.between(0.6, 0.8);
  each(frame, (x, y, at) =>
    y < floor
      ? { luma: 150 + x / 30 - y / 16 + plaster[at]! * 30, blueness: 122, redness: 132 }
      : { luma: 90 - (y - floor) / 10 + plaster[at]! * 70, blueness: 116, redness: 140 },
  );
  for (let piece = 0; piece < 9; piece += 1) {
    const level = random.between(35, 210);
    const color = { blueness: random.between(104, 150), redness: random.between(108, 152) };
    const place = [random.whole(0, width), random.whole(100, height - 80)] as const;
    rectangle(frame, ...place, random.whole(50, 300), random.whole(40, 220), (at) => ({
      luma: level + plaster[at]! * 50,
      ...color,
    }));
  }
  return frame;
}

type Color = { luma: number; blueness: number; redness: number };

function each(frame: Frame, toColor: (x: number, y: number, at: number) => Color): void {
  for (let y = 0; y < frame.height; y += 1) {
    for (let x = 0; x < frame.width; x += 1) put(frame, x, y, toColor(x, y, y * frame.width + x));
  }
}

function rectangle(
  frame: Frame,
  left: number,
  top: number,
  wide: number,
  high: number,
  toColor: (at: number) => Color,
): void {
  for (let y = Math.max(top, 0); y < Math.min(top + high, frame.height); y += 1) {
    for (let x = left; x < Math.min(left + wide, frame.width); x += 1) {
      put(frame, x, y, toColor(y * frame.width + x));
    }
  }
}

function put(frame: Frame, x: number, y: number, { luma, blueness, redness }: Color): void {
  frame.luma[y * frame.width + x] = Math.min(Math.max(luma, 16), 235);
  if ((x | y) & 1) return;
  const chromaAt = (y >> 1) * (frame.width >> 1) + (x >> 1);
  frame.blueness[chromaAt] = blueness;
  frame.redness[chromaAt] = redness;
}
