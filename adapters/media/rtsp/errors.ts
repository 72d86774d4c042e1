/** Errors of an RTSP connection. Their messages contain no URL, address or credentials. */

/** Bytes that are not RTSP, or a message beyond its maximum size. */
export class RtspProtocolError extends Error {
  override readonly name = 'RtspProtocolError';
}

/** Response with a status other than 2xx. */
export class RtspStatusError extends Error {
  override readonly name = 'RtspStatusError';
  readonly status: number;

  constructor(status: number) {
    super(`RTSP server returned status ${status}`);
    this.status = status;
  }
}

/** Connection closed, response timeout, or more bytes than the maximum of a stream. */
export class RtspConnectionError extends Error {
  override readonly name = 'RtspConnectionError';
}
