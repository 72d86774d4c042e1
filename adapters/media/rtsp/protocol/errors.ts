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
