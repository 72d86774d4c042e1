import { toJpeg } from '../api/use-blob-address.ts';
import { graySize } from './motion.ts';

/** Returns the gray levels of a small copy of a base64 JPEG. */
export async function toGray(base64: string): Promise<Uint8Array> {
  const { width, height } = graySize;
  const size = { resizeWidth: width, resizeHeight: height, resizeQuality: 'medium' } as const;
  const bitmap = await createImageBitmap(toJpeg(base64), size);
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context?.drawImage(bitmap, 0, 0);
  bitmap.close();
  const { data } = context?.getImageData(0, 0, width, height) ?? { data: [] };
  return Uint8Array.from({ length: width * height }, (_, at) => {
    const [red = 0, green = 0, blue = 0] = data.slice(at * 4, at * 4 + 3);
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}
