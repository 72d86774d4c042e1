/** Size of an image, in pixels. */
export type PictureSize = { width: number; height: number };

/** Image decoder of the pixel model. It returns packed RGB, `width * height * 3` bytes. */
export type PictureDecoder = {
  decode(jpeg: Uint8Array, size: PictureSize, signal: AbortSignal): Promise<Uint8Array>;
  /** Returns null for each image that cannot be decoded. */
  decodeEach(jpegs: Uint8Array[], size: PictureSize, signal: AbortSignal): Promise<(Uint8Array | null)[]>;
  decodeClip(
    mp4: Uint8Array,
    size: PictureSize,
    framesPerSecond: number,
    signal: AbortSignal,
  ): Promise<Uint8Array[]>;
};
