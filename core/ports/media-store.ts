/** Storage of frames, clips and what else expires with them. */
export interface MediaStore {
  put(
    key: string,
    bytes: Uint8Array,
    contentType: 'image/jpeg' | 'video/mp4' | 'application/json',
  ): Promise<void>;
  /** Returns undefined if the object was never stored or has expired. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Removes objects. Missing keys are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Removes all captures and evidence of a source. Returns how many. */
  removeOfSource(sourceId: string): Promise<number>;
}
