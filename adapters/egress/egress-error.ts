import { errors } from 'undici';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from './errors.ts';
import type { NetworkFault } from './errors.ts';

/**
 * Maps errors of undici, TLS and sockets to egress errors. The cause is for logs only, as it may contain addresses.
 */
export function toEgressError(error: unknown): Error {
  if (named.some((type) => error instanceof type) && error instanceof Error) return error;
  if (error instanceof errors.ConnectTimeoutError) {
    return new EgressTimeoutError('Connection timed out', { cause: error, isConnected: false });
  }
  const code = readCode(error);
  return new EgressNetworkError(messages.get(code) ?? (isTls(code) ? untrusted : 'Connection failed'), {
    cause: error,
    fault: faults.get(code) ?? (isTls(code) ? 'certificate' : isMalformed(code) ? 'malformed' : 'other'),
  });
}

const named = [
  EgressRefusedError,
  EgressUnresolvedError,
  EgressLimitError,
  EgressTimeoutError,
  EgressNetworkError,
];

const untrusted = 'TLS certificate is not valid';

const messages = new Map([
  ['ECONNREFUSED', 'Connection was refused'],
  ['ECONNRESET', 'Connection was reset'],
  ['EPIPE', 'Connection was reset'],
  ['UND_ERR_SOCKET', 'Connection was closed early'],
  ['UND_ERR_HEADERS_OVERFLOW', 'Response has too many headers'],
]);

const faults = new Map<string, NetworkFault>([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'closed'],
  ['EPIPE', 'closed'],
  ['UND_ERR_SOCKET', 'closed'],
]);

/** Codes of the parser of HTTP, and of decoders of bodies. */
function isMalformed(code: string): boolean {
  return /^(HPE_|Z_|ERR__ERROR_FORMAT)/.test(code);
}

function isTls(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/.test(code);
}

/** An error of the parser within a body may have no code. */
function readCode(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return error.code ?? 'HPE_UNKNOWN';
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
