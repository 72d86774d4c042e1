import { InvalidUrlError, StreamError, StreamFetchError } from '../../../core/errors.ts';
import {
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../../egress/errors.ts';
import { RtspProtocolError, RtspStatusError } from './errors.ts';
import type { RtspTarget } from './stream-url.ts';

/** What a caller is told when the conversation with an RTSP server fails. Never a password, never an address behind the name. */
export function asStreamError(error: unknown, target: RtspTarget): Error {
  if (error instanceof StreamError) return error;
  if (error instanceof EgressRefusedError) {
    return new InvalidUrlError(
      'The host leads to a private, local or reserved address. Use a public one, or have the operator open its range (WATCHPOST_ALLOW_RANGES).',
      { cause: error },
    );
  }
  return new StreamFetchError(remediation(error, target), undefined, { cause: error });
}

function remediation(error: unknown, target: RtspTarget): string {
  if (error instanceof RtspStatusError) return statusRemediation(error.status, target);
  if (error instanceof RtspProtocolError)
    return `What answers at port ${target.port} does not speak RTSP. Check host and port.`;
  if (error instanceof EgressUnresolvedError) return 'The host name is unknown. Check its spelling.';
  if (error instanceof EgressTimeoutError) {
    return `Nothing answered at port ${target.port} in time. Check host and port, and that a firewall lets the connection through.`;
  }
  if (error instanceof EgressNetworkError)
    return `Nothing accepts connections at port ${target.port}. Check that the camera is on, and host and port.`;
  return 'The RTSP server did not answer, or closed the connection. Check that the stream plays in a video player, then try again.';
}

function statusRemediation(status: number, target: RtspTarget): string {
  if (status === 401 || status === 403) {
    return target.credentials === null
      ? 'The stream asks for a user name and password. Give them in the URL: rtsp://USER:PASSWORD@host/path'
      : 'The server refused the user name and password in the URL. Check both, and write special characters percent-encoded.';
  }
  if (status === 404 || status === 454)
    return 'The server has no stream at this path. Check the path, and that the stream is being published.';
  if (status >= 300 && status < 400)
    return 'The server redirects to another address, which is not followed. Give the address that it redirects to.';
  if (status === 461)
    return 'The server does not offer RTSP over TCP. Allow TCP (interleaved) transport in its settings.';
  if (status === 453 || status === 503)
    return 'The server has no room for another viewer. Close other viewers, then try again.';
  return `The RTSP server answered with status ${status}. Check that the stream plays in a video player.`;
}
