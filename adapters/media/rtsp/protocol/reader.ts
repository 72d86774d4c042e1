import { RtspProtocolError, RtspTooLargeError } from './errors.ts';
import { headerValue, parseHead, type RtspMessage } from './message.ts';

/** Interleaved frame (RFC 2326, 10.12), including its four-byte header. */
export type InterleavedFrame = { channel: number; bytes: Uint8Array };

/** Item of a connection: an interleaved frame or a message. */
export type RtspItem = { kind: 'frame'; frame: InterleavedFrame } | { kind: 'message'; message: RtspMessage };

/**
 * Splits one direction of a connection into RTSP messages and interleaved frames, which are parts of the chunks.
 * Unusable after an error. `push` throws `RtspProtocolError`.
 */
export type RtspReader = { push(chunk: Uint8Array): RtspItem[] };

/** Maximum size of the head of a message, in bytes. */
export const maxHeadBytes = 32_768;
const maxBodyBytes = 65_536;
/**
 * Maximum bytes that are skipped. Some servers send one byte more than their Content-Length, or write an error text
 * into the stream.
 */
const maxGarbageBytes = 65_536;

/** Creates a reader for one direction of a connection. */
export function createRtspReader(): RtspReader {
  let pending: Buffer = Buffer.alloc(0);
  let begun = false;
  let garbageBytes = 0;
  /**
   * Bytes of a message without the end of its head, and then its head: bytes that arrive one by one are not read again.
   */
  let searchedBytes = 0;
  let head: ReadHead | undefined;
  return {
    push(chunk) {
      const bytes = append(pending, chunk);
      const items: RtspItem[] = [];
      let offset = 0;
      for (let next = readNext(bytes, offset); next !== null; next = readNext(bytes, offset)) {
        if (next.item !== null) items.push(next.item);
        begun ||= next.item !== null;
        offset += next.bytes;
        searchedBytes = 0;
        head = undefined;
      }
      pending = bytes.subarray(offset);
      return items;
    },
  };

  function readNext(bytes: Buffer, offset: number): Read {
    return bytes[offset] === dollar ? readFrame(bytes, offset) : readOther(bytes.subarray(offset));
  }

  function readOther(buffer: Buffer): Read {
    const bytes = begun ? garbageAt(buffer) : 0;
    const read = bytes > 0 ? { item: null, bytes } : readItem(buffer);
    // Counts empty lines too. Without a limit, they keep the reader busy.
    if (read?.item === null) garbageBytes += read.bytes;
    if (garbageBytes > maxGarbageBytes) throw new RtspProtocolError('Too much that is not RTSP');
    return read;
  }

  function readItem(buffer: Buffer): Read {
    const first = buffer[0];
    if (first === undefined) return null;
    if (first === carriageReturn || first === lineFeed) return { item: null, bytes: 1 };
    head ??= readHead(buffer, searchedBytes);
    searchedBytes = buffer.length;
    if (head === undefined || buffer.length < head.bytes) return null;
    const { bytes, bodyAt, ...message } = head;
    const body = new Uint8Array(buffer.subarray(bodyAt, bytes));
    return { item: { kind: 'message', message: { ...message, body } }, bytes };
  }
}

/** Returns both, without a copy if nothing is pending. */
function append(pending: Buffer, chunk: Uint8Array): Buffer {
  if (pending.length > 0) return Buffer.concat([pending, chunk]);
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
}

/** Head of a message, the offset of its body, and the bytes of the whole message. */
type ReadHead = Omit<RtspMessage, 'body'> & { bodyAt: number; bytes: number };

/** Next item, or null while it is incomplete. An empty line between messages has no item. */
type Read = { item: RtspItem | null; bytes: number } | null;

/** Returns the number of bytes before the next possible item: an RTP or RTCP frame, or a response. */
function garbageAt(buffer: Buffer): number {
  const first = buffer[0];
  if (first === undefined || beginners.has(first) || isCapital(first)) return 0;
  for (let offset = 1; offset < buffer.length; offset += 1) {
    const isFrame = buffer[offset] === dollar && (buffer[offset + 4] ?? rtpVersion) >> 6 === rtpVersion >> 6;
    if (isFrame || answerStart.startsWith(buffer.toString('latin1', offset, offset + answerStart.length)))
      return offset;
  }
  return buffer.length;
}

/** Returns true for the first letter of a method. */
function isCapital(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

const answerStart = 'RTSP/';
const rtpVersion = 0x80;
const dollar = 0x24;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const beginners = new Set([dollar, carriageReturn, lineFeed]);

function readFrame(buffer: Buffer, offset: number): Read {
  if (buffer.length < offset + 4) return null;
  const bytes = 4 + buffer.readUInt16BE(offset + 2);
  if (buffer.length < offset + bytes) return null;
  const frame = { channel: buffer.readUInt8(offset + 1), bytes: buffer.subarray(offset, offset + bytes) };
  return { item: { kind: 'frame', frame }, bytes };
}

/** Returns the head of a message once it is complete. No end of it is in the first `searchedBytes`. */
function readHead(buffer: Buffer, searchedBytes: number): ReadHead | undefined {
  const end = findHeadEnd(buffer, searchedBytes);
  if (end === null) {
    if (buffer.length > maxHeadBytes) throw new RtspTooLargeError('RTSP message has too large a head');
    return undefined;
  }
  const head = parseHead(buffer.toString('utf8', 0, end.at));
  const length = Number(headerValue(head, 'content-length') ?? 0);
  if (!Number.isInteger(length) || length < 0 || length > maxBodyBytes) {
    throw new RtspTooLargeError('RTSP message has too large a body');
  }
  const bodyAt = end.at + end.width;
  return { ...head, bodyAt, bytes: bodyAt + length };
}

const headEnds = ['\r\n\r\n', '\n\r\n', '\n\n'];

/** Returns where the head of a message ends. No end of it is in the first `searchedBytes`. */
export function findHeadEnd(buffer: Buffer, searchedBytes: number): { at: number; width: number } | null {
  const window = buffer.subarray(0, maxHeadBytes);
  const from = Math.max(0, searchedBytes - 3);
  const ends = headEnds.map((end) => ({ at: window.indexOf(end, from), width: end.length }));
  const [first] = ends.filter(({ at }) => at >= 0).toSorted((a, b) => a.at - b.at);
  return first ?? null;
}
