/** Error for a recording that cannot be read. Its message has the next step. */
export class RecordingError extends Error {
  override name = 'RecordingError';
}
