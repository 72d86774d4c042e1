import { InvalidUrlError, StreamError, StreamFetchError } from '../../../core/errors.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../../egress/errors.ts';
import type { NetworkFault } from '../../egress/errors.ts';

/** Kind of a fetched resource, as named in remediations. */
export type ResourceKind = 'playlist' | 'segment' | 'key' | 'stream';

/** Maps a failed request to the error for the caller. Returns any other error unchanged. */
export function webStreamError(error: unknown, what: ResourceKind): unknown {
  if (error instanceof StreamError) return error;
  const cause = { cause: error };
  if (error instanceof EgressRefusedError && error.scheme !== undefined) {
    return new InvalidUrlError(
      `stream_url: The URL of a ${what} begins with "${error.scheme.slice(0, 20)}:", which is not read. Use a stream whose ${what}s have http: or https: URLs.`,
      cause,
    );
  }
  if (error instanceof EgressRefusedError) {
    return new InvalidUrlError(
      `stream_url: The ${what} resolves to a private, local or reserved address. Use a public one, or ask the operator to allow its range (${error.setting}).`,
      cause,
    );
  }
  if (error instanceof EgressUnresolvedError) {
    return new StreamFetchError(
      `The host name of the ${what} does not exist. Check its spelling.`,
      undefined,
      cause,
    );
  }
  if (error instanceof EgressTimeoutError) {
    return new StreamFetchError(
      `The server of the ${what} did not respond in time. Try again later.`,
      undefined,
      cause,
    );
  }
  if (error instanceof EgressLimitError) {
    return new StreamFetchError(
      `The ${what} is too large or has too many redirects. Use another stream.`,
      undefined,
      cause,
    );
  }
  if (error instanceof EgressNetworkError) {
    return new StreamFetchError(networkRemediations[error.fault](what), undefined, cause);
  }
  return error;
}

const networkRemediations: Record<NetworkFault, (what: ResourceKind) => string> = {
  refused: (what) =>
    `The server of the ${what} refuses connections at this port. Check host and port, and that the server runs.`,
  closed: (what) =>
    `The server of the ${what} closed the connection. Check that the port is that of its HTTP or HTTPS service, then try again.`,
  certificate: (what) =>
    `The certificate of the server of the ${what} is not valid. Use the host name of the certificate, or have it renewed. If a camera has made it itself, use http:// or rtsp://.`,
  malformed: (what) =>
    `The server of the ${what} answers with something that is not HTTP, or with a body that is not as its headers say. Check host and port, and that the address shows the stream in a browser.`,
  other: (what) =>
    `The server of the ${what} cannot be reached. Check that the stream plays from another network.`,
};

/** Response with a status other than 200 or 206. */
export class StatusError extends StreamFetchError {
  override name = 'StatusError';
  readonly status: number;

  constructor(status: number, what: ResourceKind) {
    super(`The server returned HTTP status ${status} for the ${what}. ${advice(status, what)}`, undefined, {
      accessRefused: status === 401,
    });
    this.status = status;
  }
}

/** Creates the error for a response without content. */
export function httpStatusError(status: number, what: ResourceKind): StatusError {
  return new StatusError(status, what);
}

function advice(status: number, what: ResourceKind): string {
  if (status === 401)
    return `Add the user name and password to the URL, or correct them: user:password@ in front of the host.${what === 'stream' ? '' : ' HLS is read with Basic authentication only.'}`;
  if (status === 403)
    return 'Use a fresh URL: this one may have expired, or the stream may be blocked in this region.';
  if (status === 404 || status === 410) return 'Check that the stream is running.';
  if (status === 429) return 'Wait, or use a longer interval: the server limits requests.';
  return status < 500 ? 'Check the URL.' : 'Try again later.';
}
