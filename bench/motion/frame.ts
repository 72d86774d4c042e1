import { picture } from './scene.ts';

/** Frame in planar yuv420p, video range. */
export type Frame = {
  width: number;
  height: number;
  luma: Uint8Array;
  blueness: Uint8Array;
  redness: Uint8Array;
};

/** Creates a black frame. */
export function blankFrame(width: number = picture.width, height: number = picture.height): Frame {
  const chroma = (width * height) / 4;
  return {
    width,
    height,
    luma: new Uint8Array(width * height).fill(16),
    blueness: new Uint8Array(chroma).fill(128),
    redness: new Uint8Array(chroma).fill(128),
  };
}

/** Blends one pixel and ignores pixels outside the frame. Chroma changes where both coordinates are even. */
export function blend(
  frame: Frame,
  x: number,
  y: number,
  luma: number,
  share: number,
  color?: { blueness: number; redness: number },
): void {
  if (x < 0 || y < 0 || x >= frame.width || y >= frame.height) return;
  const at = y * frame.width + x;
  frame.luma[at] = frame.luma[at]! + (luma - frame.luma[at]!) * share;
  if ((x | y) & 1) return;
  const chromaAt = (y >> 1) * (frame.width >> 1) + (x >> 1);
  const { blueness, redness } = color ?? { blueness: 128, redness: 128 };
  frame.blueness[chromaAt] = frame.blueness[chromaAt]! + (blueness - frame.blueness[chromaAt]!) * share;
  frame.redness[chromaAt] = frame.redness[chromaAt]! + (redness - frame.redness[chromaAt]!) * share;
}
