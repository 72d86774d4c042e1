import { InvalidUrlError, StreamError, StreamFetchError } from '../../../../core/errors.ts';
import {
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../../../egress/errors.ts';
import type { RtspTarget } from './stream-url.ts';

/** Errors of an RTSP connection. Their messages contain no URL, address or credentials. */

/** Bytes that are not RTSP, or a message beyond its maximum size. */
export class RtspProtocolError extends Error {
  override readonly name = 'RtspProtocolError';
}

/** Message beyond its maximum size. */
export class RtspTooLargeError extends RtspProtocolError {}

export class HttpResponseError extends RtspProtocolError {}

/** Response with a status other than 2xx. */
export class RtspStatusError extends Error {
  override readonly name = 'RtspStatusError';
  readonly status: number;

  constructor(status: number) {
    super(`RTSP server returned status ${status}`);
    this.status = status;
  }
}

/** Connection closed, or response timeout. */
export class RtspConnectionError extends Error {
  override readonly name = 'RtspConnectionError';
}

/** Connection that this service ended, because the server sends more than a stream may: bytes, or work to read them. */
export class RtspLimitError extends RtspConnectionError {}

export function isRtspError(error: unknown): boolean {
  return [RtspProtocolError, RtspStatusError, RtspConnectionError].some((type) => error instanceof type);
}

/**
 * Maps a failure of an RTSP connection to the error for the caller. It contains no password and no resolved
 * address.
 */
export function rtspStreamError(error: unknown, target: RtspTarget): Error {
  if (error instanceof StreamError) return error;
  if (error instanceof EgressRefusedError) {
    return new InvalidUrlError(
      `stream_url: The host resolves to a private, local or reserved address. Use a public one, or ask the operator to allow its range (${error.setting}).`,
      { cause: error },
    );
  }
  const accessRefused = error instanceof RtspStatusError && [401, 403].includes(error.status);
  return new StreamFetchError(remediation(error, target), undefined, { cause: error, accessRefused });
}

/** Remediation of a stream that costs more than its share. */
export const limitRemediation =
  'The RTSP server sends more than a stream may, in bytes or in work to read them, so the connection was ended. Use a stream of lower bit rate, or restart the camera.';

function remediation(error: unknown, target: RtspTarget): string {
  if (error instanceof RtspStatusError) return statusRemediation(error.status, target);
  if (error instanceof RtspLimitError) return limitRemediation;
  if (error instanceof HttpResponseError)
    return `The server at port ${target.port} uses HTTP, not RTSP. Use the RTSP port of the camera (usually 554), rtsp+http:// if it tunnels RTSP through HTTP, or the http:// address of a picture or playlist.`;
  if (error instanceof RtspTooLargeError && !target.isTunnelled)
    return `The server at port ${target.port} sent an RTSP message with a head above 32 kB, or a body above 64 kB. Check that the address is that of one camera.`;
  if (error instanceof RtspProtocolError && target.isTunnelled)
    return `The server at port ${target.port} does not tunnel RTSP through HTTP at this path. Check host, port and path, or use rtsp:// with the RTSP port of the camera (usually 554).`;
  if (error instanceof RtspProtocolError)
    return `The server at port ${target.port} does not use RTSP. Check host and port.`;
  if (error instanceof EgressUnresolvedError) return 'The host name is unknown. Check its spelling.';
  if (error instanceof EgressTimeoutError) {
    return `Port ${target.port} did not respond in time. Check host, port and firewall.`;
  }
  if (error instanceof EgressNetworkError && error.fault === 'certificate')
    return tlsRemediation(error, target);
  if (error instanceof EgressNetworkError)
    return `Port ${target.port} refuses connections. Check host and port, and that the camera is on.`;
  if (target.isTunnelled)
    return `The server at port ${target.port} did not respond with RTSP through HTTP, or closed the connection. Check host, port and path, or use rtsp:// with the RTSP port of the camera (usually 554).`;
  return 'The RTSP server did not respond, or closed the connection. Check that the stream plays in a video player, then try again.';
}

/** No setting turns the check off: a certificate that anyone can make protects no password. */
function tlsRemediation({ cause }: EgressNetworkError, { port }: RtspTarget): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code.startsWith('ERR_SSL_'))
    return `Port ${port} does not use TLS. Check the port, or use rtsp:// if the camera has no TLS.`;
  const reason = code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? 'is for another host name' : 'is not trusted';
  return `The certificate of the camera ${reason} (${code}). If it is self-signed, export it, start the service with NODE_EXTRA_CA_CERTS=camera.pem, and use the host name that it contains; or use rtsp:// in a network that you trust.`;
}

function statusRemediation(status: number, target: RtspTarget): string {
  if (status === 401 || status === 403) {
    return target.credentials === null
      ? `The stream requires a user name and password. Add them to the URL: ${target.shownUrl.replace(/:.*/s, '')}://USER:PASSWORD@host/path`
      : 'The server rejected the user name and password of the URL. Check both, and percent-encode special characters.';
  }
  if (status === 404 || status === 454)
    return 'The server has no stream at this path. Check the path, and that the stream is being published.';
  if (status >= 300 && status < 400)
    return 'The server redirects to another address, and RTSP redirects are not followed. Use the address that it redirects to.';
  if (status === 461)
    return 'The server does not offer RTSP over TCP. Allow TCP (interleaved) transport in its settings.';
  if (status === 453)
    return 'The server has no bandwidth for another viewer (status 453). Close other viewers, then try again.';
  if (status === 503)
    return 'The server is unavailable (status 503), also after two more attempts. It does not say why: it may be starting the stream, or have its maximum number of viewers. Close other viewers, then try again.';
  return `The RTSP server returned status ${status}. Check that the stream plays in a video player.`;
}
