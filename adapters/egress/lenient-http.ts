import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Deadline } from './deadline.ts';
import { EgressLimitError, EgressNetworkError } from './errors.ts';
import { connectGuarded, type Connections } from './guarded-tcp.ts';
import type { Hop } from './redirect.ts';

/** Response without the rules of RFC 9112. */
export type LenientAnswer = {
  statusCode: number;
  /** Names in lower case. */
  headers: Record<string, string[]>;
  body: Readable;
};

const maxHeadBytes = 32_768;
/** Maximum responses before the final one (1xx): a packet may hold thousands. */
const maxInterimHeads = 8;

/**
 * Requests a URL whose response the parser of undici may refuse, or cut short: cheap cameras write header lines
 * without a colon, lines that end with LF alone, two lengths, or no head at all; what answers a POST has a status,
 * except for XML of ONVIF. One request has one connection, to an address of the guard, so nothing can be hidden in it
 * for another. Throws the errors of `connectGuarded`, and `EgressLimitError`.
 */
export async function sendLenient(
  { guard, connectTimeoutMs: timeoutMs }: Connections,
  hop: Hop,
  deadline: Deadline,
): Promise<LenientAnswer> {
  const { url } = hop;
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const { signal } = deadline;
  const socket = await connectGuarded(guard, { host: url.hostname, port, isSecure, timeoutMs, signal });
  const abort = (): void => void socket.destroy(new EgressNetworkError('Connection was aborted'));
  signal.addEventListener('abort', abort, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', abort));
  if (signal.aborted) abort();
  // In one packet, if it fits: small servers read once.
  socket.cork();
  socket.write(formatRequest(hop), 'latin1');
  if (hop.body !== null) socket.write(hop.body);
  socket.uncork();
  const chunks = readChunks(socket);
  try {
    const { head, rest } = await readHead(chunks);
    const mayLackHead = hop.method === 'GET' || hop.mayLackHead;
    if (!mayLackHead && !/^\S+[ \t]+\d{3}(?!\d)/.test(head))
      throw new EgressNetworkError('Response is not HTTP', { fault: 'malformed' });
    const { statusCode, headers } = parseHead(head);
    return { statusCode, headers, body: toReadable(readBody(headers, rest, chunks), socket) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function formatRequest({ url, method, headers, body }: Hop): string {
  const length = method !== 'GET' && { 'content-length': String(Buffer.byteLength(body ?? '')) };
  const lines = Object.entries(withCapitals({ host: url.host, ...headers, ...length, connection: 'close' }));
  const written = lines.map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n\0]/g, '')}`);
  return [`${method} ${url.pathname}${url.search} HTTP/1.1`, ...written, '', ''].join('\r\n');
}

const usualNames = /^(?:host|connection|authorization|cookie|range|user-agent|accept-encoding|content-\w+)$/;

/** Small servers search for the names of HTTP as browsers write them. Those of webhooks stay as they are documented. */
export function withCapitals(headers: Hop['headers']): Hop['headers'] {
  const written: Hop['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    const isUsual = usualNames.test(name);
    written[isUsual ? name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()) : name] = value;
  }
  return written;
}

type Chunks = AsyncGenerator<Buffer, void>;

async function* readChunks(socket: Readable): Chunks {
  for await (const chunk of socket) if (Buffer.isBuffer(chunk)) yield chunk;
}

/** Reads up to the empty line. Bytes that do not begin like a response have no head. */
async function readHead(chunks: Chunks): Promise<{ head: string; rest: Buffer }> {
  let bytes = Buffer.alloc(0);
  for (let interim = 0; interim <= maxInterimHeads;) {
    // Scripts end what they print before with an empty line.
    const text = bytes.toString('latin1').replace(/^(?:\r?\n)+/, '');
    const before = bytes.length - text.length;
    const end = /\r?\n\r?\n/.exec(text);
    if (text.length >= 4 && !/^(HTTP|ICY )/i.test(text)) return { head: '', rest: bytes };
    if (end) {
      const rest = bytes.subarray(before + end.index + end[0].length);
      const head = text.slice(0, end.index);
      if (!/^HTTP\S* +1\d\d/i.test(head)) return { head, rest };
      bytes = rest;
      interim += 1;
      continue;
    }
    if (bytes.length > maxHeadBytes) break;
    const next = await chunks.next();
    // A receiver that closes behind a line has answered: another attempt would repeat what it has.
    if (next.done && /^HTTP\S*[ \t]+[2-9]\d\d.*\n$/is.test(text))
      return { head: text, rest: Buffer.alloc(0) };
    if (next.done && !/^(?:H(?:T|$)|I(?:C|$)|$)/i.test(text)) return { head: '', rest: bytes };
    if (next.done) throw new EgressNetworkError('Connection was closed early', { fault: 'closed' });
    bytes = Buffer.concat([bytes, next.value]);
  }
  throw new EgressLimitError('Response has too many headers');
}

function parseHead(head: string): Omit<LenientAnswer, 'body'> {
  const [statusLine = '', ...lines] = head.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers: LenientAnswer['headers'] = {};
  for (const line of lines) {
    const [, name, value = ''] = /^([!#$%&'*+.^`|~\w-]+)[ \t]*:(.*)$/.exec(line) ?? [];
    if (name !== undefined) (headers[name.toLowerCase()] ??= []).push(value.trim());
  }
  const [, status] = /^\S+[ \t]+(\d{3})/.exec(statusLine) ?? [];
  return { statusCode: Number(status ?? 200), headers };
}

/**
 * Returns a body whose end, or destruction, ends its connection: one made of a generator alone would wait for the next
 * bytes of it.
 */
function toReadable(bytes: Chunks, socket: Socket): Readable {
  const body = new Readable({
    read: () =>
      void bytes.next().then(
        ({ value }) => body.push(value ?? null),
        (error: Error) => body.destroy(error),
      ),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  return body;
}

/** Time for a body that is said to be empty, in milliseconds. */
const emptyMs = 500;

/**
 * The last length counts, as in curl and ffmpeg. Cameras state that of one part for a body of many, and 0 for one that
 * they do not know.
 */
async function* readBody(headers: LenientAnswer['headers'], rest: Buffer, chunks: Chunks): Chunks {
  const bytes = prepend(rest, chunks);
  const [coding, stated, type] = ['transfer-encoding', 'content-length', 'content-type'].map((name) =>
    String(headers[name]),
  );
  if (/chunked/i.test(coding ?? '')) return yield* readParts(bytes);
  const length = /(?:^|,)\s*\+?(\d{1,15})$/.exec(stated ?? '');
  if (!length || /^multipart\//i.test(type ?? '')) return yield* bytes;
  let left = Number(length[1]);
  if (left === 0) {
    const next = bytes.next();
    next.catch(() => undefined);
    const first = await Promise.race([next, setTimeout(emptyMs)]);
    if (!first || first.done) return;
    yield first.value;
    return yield* bytes;
  }
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
  throw new EgressNetworkError('Connection was closed early', { fault: 'closed' });
}

async function* prepend(rest: Buffer, chunks: Chunks): Chunks {
  if (rest.length > 0) yield rest;
  yield* chunks;
}

const maxSizeLine = 1024;

/**
 * Reads a chunked body. Without its last chunk it is cut. The parts of a packet are joined: there may be thousands, of
 * a byte each.
 */
async function* readParts(bytes: Chunks): Chunks {
  let held = Buffer.alloc(0);
  /** Bytes of the part under way; null before its size. */
  let left: number | null = null;
  let isOver = false;
  for await (const chunk of bytes) {
    held = Buffer.concat([held, chunk]);
    const parts: Buffer[] = [];
    while (held.length > 0 && !isOver) {
      if (left !== null && left > 0) {
        const taken = Math.min(left, held.length);
        parts.push(held.subarray(0, taken));
        left -= taken;
        held = held.subarray(taken);
        continue;
      }
      const end = held.indexOf('\n');
      if (end < 0 && held.length <= maxSizeLine) break;
      const line = held.toString('latin1', 0, end).trim();
      const [, size] = /^(?:0x)?([\da-f]{1,8})\s*(;|$)/i.exec(line) ?? [];
      const isBetween = left === 0 && line === '';
      if (size === undefined && !isBetween)
        throw new EgressNetworkError('Response is not HTTP', { fault: 'malformed' });
      left = size === undefined ? null : Number.parseInt(size, 16);
      held = held.subarray(end + 1);
      isOver = left === 0 && size !== undefined;
    }
    if (parts.length > 0) yield Buffer.concat(parts);
    if (isOver) return;
  }
  throw new EgressNetworkError('Connection was closed early', { fault: 'closed' });
}
