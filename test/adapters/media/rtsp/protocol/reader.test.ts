import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RtspProtocolError } from '../../../../../adapters/media/rtsp/protocol/errors.ts';
import {
  formatMessage,
  headerValue,
  headerValues,
  requestLine,
  responseStatus,
} from '../../../../../adapters/media/rtsp/protocol/message.ts';
import { createRtspReader, type RtspItem } from '../../../../../adapters/media/rtsp/protocol/reader.ts';

const answer = formatMessage(
  'RTSP/1.0 200 OK',
  [
    ['CSeq', '3'],
    ['Session', 'abc;timeout=30'],
  ],
  'v=0\r\n',
);
const frame = Buffer.from([0x24, 1, 0, 3, 0x52, 0x54, 0x24]);
const request = formatMessage('GET_PARAMETER rtsp://h/cam RTSP/1.0', [['CSeq', '4']]);
const wire = Buffer.concat([Buffer.from(answer), frame, Buffer.from(`\r\n${request}`), frame]);

function read(...chunks: Uint8Array[]): RtspItem[] {
  const reader = createRtspReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
}

describe('createRtspReader', () => {
  test('the reader separates messages, bodies and interleaved frames', () => {
    const items = read(wire);
    expect(items.map((item) => item.kind)).toEqual(['message', 'frame', 'message', 'frame']);
    const [first, second, third] = items;
    if (first?.kind !== 'message' || second?.kind !== 'frame' || third?.kind !== 'message')
      throw new Error('order');
    expect([responseStatus(first.message), headerValue(first.message, 'session')]).toEqual([
      200,
      'abc;timeout=30',
    ]);
    expect(Buffer.from(first.message.body).toString()).toBe('v=0\r\n');
    expect([second.frame.channel, Buffer.from(second.frame.bytes)]).toEqual([1, frame]);
    expect(requestLine(third.message.startLine)).toEqual({ method: 'GET_PARAMETER', url: 'rtsp://h/cam' });
  });

  test('the reader returns the same items for any split of the bytes', () => {
    const whole = read(wire);
    const cuts = fc.array(fc.nat(wire.length), { maxLength: 8 });
    fc.assert(
      fc.property(cuts, (at) => {
        const edges = [0, ...at.toSorted((a, b) => a - b), wire.length];
        const chunks = edges.slice(1).map((end, index) => wire.subarray(edges[index], end));
        expect(read(...chunks)).toEqual(whole);
      }),
    );
  });

  test('a message that arrives byte by byte is parsed once, so it costs no more than a packet of its size', () => {
    const headers = Array.from({ length: 98 }, (_, index) => `X-${index}: ${'y'.repeat(10)}\r\n`);
    const message = Buffer.from(
      `RTSP/1.0 200 OK\r\n${headers.join('')}Content-Length: 20000\r\n\r\n${'z'.repeat(20_000)}`,
    );
    const packet = Buffer.alloc(message.length, 0x24);
    packet.writeUInt16BE(packet.length - 4, 2);
    const [messageMs, packetMs] = [message, packet].map((bytes) => {
      const before = process.cpuUsage().user;
      expect(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toHaveLength(1);
      return process.cpuUsage().user - before;
    });
    expect(messageMs).toBeLessThan(2.5 * packetMs!);
  });

  test('a message with more than a hundred header lines is refused', () => {
    const message = (lines: number) => Buffer.from(`RTSP/1.0 200 OK\r\n${'a: b\r\n'.repeat(lines)}\r\n`);
    expect(read(message(99))).toHaveLength(1);
    expect(() => read(message(101))).toThrow(RtspProtocolError);
  });

  test('the reader accepts bare line feeds, folded and repeated headers', () => {
    const [item] = read(
      Buffer.from('RTSP/1.0 401 No\nWWW-Authenticate: Basic\n  realm="a"\nwww-authenticate: Digest\n\n'),
    );
    if (item?.kind !== 'message') throw new Error('message');
    expect(headerValues(item.message, 'WWW-Authenticate')).toEqual(['Basic realm="a"', 'Digest']);
  });

  test.each([
    ['a byte beyond the declared length', '\0'],
    ['the rest of a description with a short length', 'a=control:trackID=1\r\na=range:npt=now-\r\n'],
    ['garbage with a dollar sign', '\0\0$\0\0\0\0'],
  ])('the reader resynchronizes after %s', (_case, garbage) => {
    const rtp = Buffer.from([0x24, 0, 0, 12, 0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (const next of [
      rtp,
      Buffer.from(request.replace('GET_PARAMETER rtsp://h/cam RTSP/1.0', 'RTSP/1.0 200 OK')),
    ]) {
      const items = read(Buffer.concat([Buffer.from(answer), Buffer.from(garbage), next, frame]));
      expect(items.map((item) => item.kind)).toEqual([
        'message',
        next === rtp ? 'frame' : 'message',
        'frame',
      ]);
    }
  });

  test('the reader limits resynchronization and requires RTSP at the start', () => {
    expect(() => read(Buffer.from(answer), Buffer.alloc(100_000))).toThrow(RtspProtocolError);
    expect(() => read(Buffer.concat([Buffer.alloc(20_000, 'x'), Buffer.from(answer)]))).toThrow(
      RtspProtocolError,
    );
    expect(() => read(Buffer.alloc(100_000, '\r\n'))).toThrow(RtspProtocolError);
    expect(read(Buffer.alloc(1000, '\r\n'), Buffer.from(answer))).toHaveLength(1);
  });

  test('a version, a header line without a name, and a second space before the status, are ignored', () => {
    const text = 'RTSP/2.0  200 OK\r\nnonsense\r\n: 7\r\nCSeq: 1\r\n\r\n';
    expect(read(Buffer.from(text))).toMatchObject([{ message: { headers: [['CSeq', '1']] } }]);
  });

  test.each([
    ['HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['an endless header', 'A'.repeat(40_000)],
    ['an endless body', 'RTSP/1.0 200 OK\r\nContent-Length: 99999999\r\n\r\n'],
    ['a negative length', 'RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['a length that is not a number', 'RTSP/1.0 200 OK\r\nContent-Length: many\r\n\r\n'],
  ])('the reader rejects %s', (_, text) => {
    expect(() => read(Buffer.from(text))).toThrow(RtspProtocolError);
  });
});
