import { hasSyncByte, packetBytes } from '../mpeg-ts/packet.ts';
import { sniffBody, type ContentKind } from '../hls/playlist/sniff-content.ts';

/** Content of a response. All but the first four are no stream that can be read. */
export type WebContent =
  | 'jpeg'
  | 'motion-jpeg'
  | 'mpeg-ts'
  | 'hls'
  | 'a PNG picture'
  | 'a GIF picture'
  | 'a WebP picture'
  | ContentKind;

/** Number of bytes after which the content is certain. */
export const sniffedBytes = 1024;

const byMagic: readonly (readonly [magic: string, at: number, content: WebContent])[] = [
  ['\xff\xd8\xff', 0, 'jpeg'],
  ['\x89PNG', 0, 'a PNG picture'],
  ['GIF8', 0, 'a GIF picture'],
  ['WEBP', 8, 'a WebP picture'],
];

/** Returns the content that the type alone shows, because the parts of a multipart response may take long. Other types are often wrong. */
export function contentFromType(contentType: string): WebContent | undefined {
  const isMotion = /^(multipart\/|video\/(x-)?(motion-?jpe?g|mjpe?g))/i.test(contentType.trim());
  return isMotion ? 'motion-jpeg' : undefined;
}

/** Returns the content of a body by its first bytes; undefined if further bytes decide. */
export function sniffStart(start: Uint8Array, isWhole: boolean): WebContent | undefined {
  const text = Buffer.from(start.subarray(0, sniffedBytes)).toString('latin1');
  const known = byMagic.find(([magic, at]) => text.startsWith(magic, at));
  if (known) return known[2];
  if (text.trimStart().startsWith('#EXTM3U')) return 'hls';
  if (start.length < sniffedBytes && !isWhole) return undefined;
  const hasParts = text.trimStart().startsWith('--') && /content-type: ?image\/jpe?g/i.test(text);
  if (hasParts) return 'motion-jpeg';
  const content = sniffBody(start);
  if (['a video file', 'something else'].includes(content) && hasPackets(start)) return 'mpeg-ts';
  return content === 'a damaged HLS playlist' ? 'hls' : content;
}

/** Returns true if three packets of MPEG-TS follow each other. A stream may be joined within the first one. */
function hasPackets(start: Uint8Array): boolean {
  return Array.from({ length: packetBytes }, (_, offset) => offset).some((offset) =>
    [0, 1, 2].every((packet) => hasSyncByte(start, offset + packet * packetBytes)),
  );
}
