/** What a conversation with an RTSP server ends with. The messages tell no URL, address or credential. */

/** Bytes that are no RTSP, or more of them than a message may have. */
export class RtspProtocolError extends Error {
  override readonly name = 'RtspProtocolError';
}

/** An answer other than 2xx. */
export class RtspStatusError extends Error {
  override readonly name = 'RtspStatusError';
  readonly status: number;

  constructor(status: number) {
    super(`RTSP server answered with status ${status}`);
    this.status = status;
  }
}

/** The server went away, stayed silent, or sent more than is taken of one stream. */
export class RtspConnectionError extends Error {
  override readonly name = 'RtspConnectionError';
}
