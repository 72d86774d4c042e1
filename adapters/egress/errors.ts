/** Errors of the egress guard and its HTTP client. Their messages contain no address, URL or credentials. */

/** The name, the literal, a resolved address or the scheme is not allowed. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
  /** Name of the setting that opens ranges, for error messages. */
  readonly setting: string;
  /** Scheme of a URL that is not of the web. */
  readonly scheme: string | undefined;

  constructor(
    message: string,
    { setting, scheme, ...options }: ErrorOptions & { setting: string; scheme?: string },
  ) {
    super(message, options);
    this.setting = setting;
    this.scheme = scheme;
  }
}

/** DNS returned no address for the name. */
export class EgressUnresolvedError extends Error {
  override readonly name = 'EgressUnresolvedError';
}

/** The response exceeds its maximum size, or has too many redirects. */
export class EgressLimitError extends Error {
  override readonly name = 'EgressLimitError';
}

/** The request or its connection timed out. */
export class EgressTimeoutError extends Error {
  override readonly name = 'EgressTimeoutError';
  /** False if not even the connection was made. */
  readonly isConnected: boolean;

  constructor(
    message: string,
    { isConnected = true, ...options }: ErrorOptions & { isConnected?: boolean } = {},
  ) {
    super(message, options);
    this.isConnected = isConnected;
  }
}

/** Code of a known connection error. */
export type NetworkFault = 'refused' | 'closed' | 'certificate' | 'malformed' | 'other';

/** Failed connection, invalid certificate, or invalid HTTP response. */
export class EgressNetworkError extends Error {
  override readonly name = 'EgressNetworkError';
  readonly fault: NetworkFault;

  constructor(
    message: string,
    { fault = 'other', ...options }: ErrorOptions & { fault?: NetworkFault } = {},
  ) {
    super(message, options);
    this.fault = fault;
  }
}
