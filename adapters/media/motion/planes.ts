import { thumbnail } from '../../../core/records/capture.ts';

/** Plane of an image, row by row. */
export type Plane = { samples: Uint8Array; width: number; height: number };

/** Planes of a thumbnail. Chroma has half the width and height (yuv420p). */
export type Planes = { luma: Plane; cb: Plane; cr: Plane };

const lumaBytes = thumbnail.width * thumbnail.height;
const chromaBytes = lumaBytes / 4;

/** Splits a thumbnail into views of its planes. Throws `RangeError` if it has another size. */
export function splitPlanes(picture: Uint8Array): Planes {
  if (picture.length !== thumbnail.bytes) {
    throw new RangeError(`A thumbnail has ${thumbnail.bytes} bytes, this one has ${picture.length}`);
  }
  const chroma = { width: thumbnail.width / 2, height: thumbnail.height / 2 };
  return {
    luma: { samples: picture.subarray(0, lumaBytes), width: thumbnail.width, height: thumbnail.height },
    cb: { samples: picture.subarray(lumaBytes, lumaBytes + chromaBytes), ...chroma },
    cr: { samples: picture.subarray(lumaBytes + chromaBytes), ...chroma },
  };
}

/** Joins three planes into a thumbnail. */
export function joinPlanes({ luma, cb, cr }: Planes): Uint8Array {
  const picture = new Uint8Array(thumbnail.bytes);
  picture.set(luma.samples);
  picture.set(cb.samples, lumaBytes);
  picture.set(cr.samples, lumaBytes + chromaBytes);
  return picture;
}
