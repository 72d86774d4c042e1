import { InvalidUrlError, StreamError, StreamFetchError } from '../../../core/errors.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../../egress/errors.ts';

export type Fetched = 'playlist' | 'segment' | 'key';

/** What a failed request means to a caller; what is no failure of a request comes back as it is. */
export function fetchFailure(error: unknown, what: Fetched): unknown {
  if (error instanceof StreamError) return error;
  const cause = { cause: error };
  if (error instanceof EgressRefusedError) {
    return new InvalidUrlError(
      `The ${what} leads to an address that is not public. To watch streams of the own network, run the embedded service with WATCHPOST_ALLOW_RANGES (CIDRs, for example 192.168.0.0/16).`,
      cause,
    );
  }
  if (error instanceof EgressUnresolvedError) {
    return new StreamFetchError(
      `The host name of the ${what} does not exist. Check it for typing errors.`,
      undefined,
      cause,
    );
  }
  if (error instanceof EgressTimeoutError) {
    return new StreamFetchError(
      `The server of the ${what} did not answer in time. Try again in a while.`,
      undefined,
      cause,
    );
  }
  if (error instanceof EgressLimitError) {
    return new StreamFetchError(`The ${what} is too large, or redirects too often.`, undefined, cause);
  }
  if (error instanceof EgressNetworkError) {
    return new StreamFetchError(
      `The server of the ${what} cannot be reached, or its certificate is not valid. Check that the stream plays from elsewhere.`,
      undefined,
      cause,
    );
  }
  return error;
}

/** A status that brings nothing to read. */
export class StatusError extends StreamFetchError {
  readonly status: number;

  constructor(status: number, what: Fetched) {
    super(`The server answered the request for the ${what} with HTTP status ${status}. ${advice(status)}`);
    this.status = status;
  }
}

export function statusFailure(status: number, what: Fetched): StatusError {
  return new StatusError(status, what);
}

function advice(status: number): string {
  if (status === 401)
    return 'Give the user name and password in the URL, as in https://user:password@host/path.';
  if (status === 403)
    return 'The URL may have expired, or the stream may be closed to this region. Get a fresh URL.';
  if (status === 404 || status === 410) return 'Check that the stream is running.';
  if (status === 429) return 'It is asked too often: wait a while, or use a longer interval.';
  return 'Try again in a while.';
}
