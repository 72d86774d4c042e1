import { describe, expect, test } from 'vitest';
import { findShift, applyShift } from '../../../../adapters/media/motion/changed-pixels.ts';
import { type Planes, splitPlanes } from '../../../../adapters/media/motion/planes.ts';
import { thumbnail } from '../../../../core/records/capture.ts';
import { texture } from '../../../../bench/motion/frame.ts';

const { width, height, bytes } = thumbnail;

describe('camera shift', () => {
  test.each([
    { right: 0, down: 0 },
    { right: 1, down: 0 },
    { right: -2, down: 1 },
    { right: 2, down: -2 },
  ])('a camera shift of $right, $down is found, also in different light', (moved) => {
    const before = view(0, 0, 0);
    const now = view(moved.right, moved.down, 15);
    expect(findShift(before.luma, now.luma, 15, 2)).toEqual(moved);
  });

  test('the reference is shifted to the camera position', () => {
    const { luma } = applyShift(view(0, 0, 0), { right: 2, down: 1 });
    const wanted = view(2, 1, 0).luma;
    const inner = 45 * width + 80;
    expect(luma.samples.subarray(inner, inner + 20)).toEqual(wanted.samples.subarray(inner, inner + 20));
  });
});

test('an object that moves in front of a flat wall is not a camera shift', () => {
  const before = wallWith(40);
  const now = wallWith(42);
  expect(findShift(before.luma, now.luma, 0, 2)).toEqual({ right: 0, down: 0 });
});

const margin = 4;
const world = texture(width + 2 * margin, height + 2 * margin, 3, { cell: 24, octaves: 4, roughness: 0.6 });

function view(right: number, down: number, lighter: number): Planes {
  return drawn(
    (x, y) => 110 + lighter + world[(y + margin - down) * (width + 2 * margin) + x + margin - right]! * 90,
  );
}

/** Grainy static wall with an object of 12 pixels. */
function wallWith(left: number): Planes {
  const wall = view(0, 0, 0);
  for (let y = 40; y < 52; y += 1) wall.luma.samples.fill(220, y * width + left, y * width + left + 12);
  return wall;
}

function drawn(levelAt: (x: number, y: number) => number): Planes {
  const picture = new Uint8Array(bytes).fill(128);
  for (let at = 0; at < width * height; at += 1) picture[at] = levelAt(at % width, Math.floor(at / width));
  return splitPlanes(picture);
}
