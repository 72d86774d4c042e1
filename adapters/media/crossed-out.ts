import type { ImageSize } from './ffmpeg/decode-image.ts';

/** Returns a black image with a white diagonal cross, in packed RGB: the placeholder for an unreadable frame. */
export function crossedOut({ width, height }: ImageSize): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const across = Math.floor((y * (width - 1)) / Math.max(1, height - 1));
    for (const middle of [across, width - 1 - across]) {
      const from = Math.max(0, middle - strokePixels);
      rgb.fill(255, (y * width + from) * 3, (y * width + Math.min(width, middle + strokePixels)) * 3);
    }
  }
  return rgb;
}

const strokePixels = 2;
