/** A command cannot go on, for a reason that its user can mend. */
export class CommandError extends Error {
  readonly remediation: string;

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.remediation = remediation;
  }
}
