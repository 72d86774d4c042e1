/** Data directory that the service cannot use. Thrown at start: the CLI prints the message and ends the process. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly remediation: string;

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.remediation = remediation;
  }
}
