/** Failed command, with a remediation for the user of the command line. */
export class CommandError extends Error {
  readonly remediation: string;

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.remediation = remediation;
  }
}
