/** Returns the frame of a clip (MP4) at a time, as JPEG, or null if the clip cannot be decoded. */
export type CutFrame = (
  clip: Uint8Array,
  atSeconds: number,
  signal: AbortSignal,
) => Promise<Uint8Array | null>;
