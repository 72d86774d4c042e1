/** Recording that cannot be read. The message says what to do. */
export class RecordingError extends Error {
  override name = 'RecordingError';
}
