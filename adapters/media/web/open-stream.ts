import { NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { OpenResponse } from '../../egress/guarded-http.ts';
import { webStreamError, httpStatusError } from './fetch-failure.ts';
import type { OpenAuthenticated, OpenOptions } from './open-authenticated.ts';
import { contentFromType, sniffedBytes, sniffStart, type WebContent } from './sniff-content.ts';

/** Opened stream of a web address, with its content. */
export type WebStream = {
  content: WebContent;
  headers: Readonly<Record<string, string>>;
  /** Body from its first byte. Throws `StreamError` and the abort reason. */
  chunks: AsyncIterable<Uint8Array>;
  /** Ends the connection. Must be called. */
  close(): void;
};

/** The server has no such stream (HTTP 404 or 410). */
export class WebStreamGoneError extends StreamFetchError {
  override name = 'WebStreamGoneError';
}

/** The address leads to a recording. */
export class VideoFileError extends NotLiveError {
  override name = 'VideoFileError';

  constructor() {
    super(
      'The URL leads to a video file. Use the URL of a live stream: an HLS playlist, endless MPEG-TS, a JPEG or Motion JPEG.',
    );
  }
}

/**
 * Opens a web address and detects its content by type and first bytes. The timeout lasts until `close`. Throws
 * `StreamError` and the abort reason.
 */
export async function openWebStream(
  open: OpenAuthenticated,
  url: string,
  options: OpenOptions,
): Promise<WebStream> {
  const response = await open(url, options).catch((error: unknown) => {
    options.signal.throwIfAborted();
    throw webStreamError(error, 'stream');
  });
  try {
    if (response.status !== 200) throw statusError(response, url);
    const body = readBody(response, options.signal);
    const { headers, close } = response;
    const type = contentFromType(headers['content-type'] ?? '');
    if (type) return { content: type, headers, chunks: body, close };
    const { start, isWhole } = await readStart(body);
    const content = sniffStart(start, isWhole) ?? 'something else';
    return { content, headers, chunks: prepend(start, body), close };
  } catch (error) {
    response.close();
    throw error;
  }
}

function statusError({ status, url: answered }: OpenResponse, url: string): StreamFetchError {
  if (status === 404 || status === 410)
    return new WebStreamGoneError(
      'The server has nothing at this address (any more). Check the URL, and that the camera is on.',
    );
  const { username, password, search, origin } = new URL(url);
  if (status === 401 && (username !== '' || password !== ''))
    return new StreamFetchError(
      new URL(answered).origin === origin
        ? 'The server rejected the user name and password of the URL. Check both, and percent-encode special characters.'
        : 'The server redirects to another address, to which user name and password are not sent. Use that address, such as https:// instead of http://.',
      undefined,
      { accessRefused: true },
    );
  if (status === 403)
    return new StreamFetchError(
      'The server refuses access (HTTP status 403). Check user name and password, or use a fresh URL: this one may have expired.',
      undefined,
      // Without a password there is no account that attempts lock, and the cause may pass.
      { accessRefused: `${username}${password}${search}` !== '' },
    );
  return httpStatusError(status, 'stream');
}

async function* readBody({ body }: OpenResponse, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal.throwIfAborted();
    throw webStreamError(error, 'stream');
  }
}

async function readStart(body: AsyncGenerator<Uint8Array>): Promise<{ start: Uint8Array; isWhole: boolean }> {
  let start = Buffer.alloc(0);
  while (start.length < sniffedBytes && sniffStart(start, false) === undefined) {
    const next = await body.next();
    if (next.done === true) return { start, isWhole: true };
    start = Buffer.concat([start, next.value]);
  }
  return { start, isWhole: false };
}

async function* prepend(start: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start;
  yield* rest;
}
