/** Where captures are kept for a day at most: evidence of events, and what the model is shown. */
export interface MediaStore {
  put(key: string, bytes: Uint8Array, contentType: 'image/jpeg' | 'video/mp4'): Promise<void>;
  /** undefined: never stored, or swept. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** What is not there is as good as removed. */
  remove(keys: readonly string[]): Promise<void>;
}
