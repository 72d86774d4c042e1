/** Brightness, blueness and redness of a pixel, or one plane of each, in the video range. */
export type Levels = readonly [luma: number, blueness: number, redness: number];
/** Frame in planar yuv444p. */
export type Frame = { width: number; height: number; planes: [Uint8Array, Uint8Array, Uint8Array] };
export type Place = readonly [left: number, top: number, wide: number, high: number];

/** Size of all clips, in pixels. */
export const picture = { width: 1280, height: 720 } as const;
const [black, white] = [16, 235];

export function blankFrame(width: number, height: number): Frame {
  const plane = () => new Uint8Array(width * height).fill(128);
  return { width, height, planes: [plane(), plane(), plane()] };
}

export function clampLuma(level: number): number {
  return Math.min(Math.max(level, black), white);
}

/** Blends levels into the pixels of a rectangle that are in the frame; `null` changes nothing. */
export function paint(
  frame: Frame,
  [left, top, wide, high]: Place,
  levelsAt: (x: number, y: number) => Levels | null,
  share = 1,
): void {
  const { width, height, planes } = frame;
  const [toX, toY] = [Math.min(Math.round(left + wide), width), Math.min(Math.round(top + high), height)];
  for (let y = Math.max(Math.round(top), 0); y < toY; y += 1)
    for (let x = Math.max(Math.round(left), 0); x < toX; x += 1) {
      const levels = levelsAt(x, y);
      if (levels === null) continue;
      const index = y * width + x;
      planes[0][index]! += (clampLuma(levels[0]) - planes[0][index]!) * share;
      planes[1][index]! += (levels[1] - planes[1][index]!) * share;
      planes[2][index]! += (levels[2] - planes[2][index]!) * share;
    }
}

/** Multiplies the brightness of each pixel. */
export function expose({ width, planes: [luma] }: Frame, gainAt: (x: number, y: number) => number): void {
  for (let index = 0; index < luma.length; index += 1)
    luma[index] = clampLuma(
      black + (luma[index]! - black) * gainAt(index % width, Math.floor(index / width)),
    );
}
