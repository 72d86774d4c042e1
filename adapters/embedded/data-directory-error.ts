/** The data directory cannot be used as it is. Found at start: the message says what to do, and the process ends. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly remediation: string;

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.remediation = remediation;
  }
}
