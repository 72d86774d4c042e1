/** What the egress guard and its HTTP client throw. The messages are safe to show: no address, URL or credential. */

/** The name, the literal, or one of the addresses behind the name is not allowed. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError';
}

/** DNS has no answer for the name. */
export class EgressUnresolvedError extends Error {
  override readonly name = 'EgressUnresolvedError';
}

/** The answer is larger than asked for, or redirects too often. */
export class EgressLimitError extends Error {
  override readonly name = 'EgressLimitError';
}

/** The time for the request, or for its connection, has run out. */
export class EgressTimeoutError extends Error {
  override readonly name = 'EgressTimeoutError';
}

/** No connection, an invalid certificate, or an answer that is no valid HTTP. */
export class EgressNetworkError extends Error {
  override readonly name = 'EgressNetworkError';
}
