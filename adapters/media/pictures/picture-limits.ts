/** Limits of pictures and of the streams that they are read from. */
export type PictureLimits = {
  /** Maximum bytes of one JPEG: twice those of 12 megapixels in high quality. */
  jpegBytes: number;
  /** Maximum bytes that a capture reads. */
  streamBytes: number;
  clipBytes: number;
  /** Time to the first picture, and that of decoding. */
  pictureMs: number;
};

export const defaultPictureLimits: PictureLimits = {
  jpegBytes: 16 * 1024 * 1024,
  streamBytes: 128 * 1024 * 1024,
  clipBytes: 48 * 1024 * 1024,
  pictureMs: 15_000,
};
