export type PictureSize = { width: number; height: number };

/** What the pixel model needs of ffmpeg: pictures as packed RGB, `width * height * 3` bytes. */
export type PictureDecoder = {
  decode(jpeg: Uint8Array, size: PictureSize, signal: AbortSignal): Promise<Uint8Array>;
  /** null for each that cannot be decoded. */
  decodeEach(jpegs: Uint8Array[], size: PictureSize, signal: AbortSignal): Promise<(Uint8Array | null)[]>;
  decodeClip(
    mp4: Uint8Array,
    size: PictureSize,
    framesPerSecond: number,
    signal: AbortSignal,
  ): Promise<Uint8Array[]>;
};
