import { hasSyncByte, packetBytes, findStride } from '../mpeg-ts/packet.ts';

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

/**
 * Returns the content that the type alone shows, because the parts of a multipart response may take long. Other types
 * are often wrong.
 */
export function contentFromType(contentType: string): WebContent | undefined {
  const isMotion = /^(multipart\/|video\/(x-)?(motion-?jpe?g|mjpe?g))/i.test(contentType.trim());
  return isMotion ? 'motion-jpeg' : undefined;
}

/** Returns the content of a body by its first bytes; undefined if further bytes decide. */
export function sniffStart(start: Uint8Array, isWhole: boolean): WebContent | undefined {
  const text = Buffer.from(start.subarray(0, sniffedBytes)).toString('latin1');
  const format = byMagic.find(([magic, offset]) => text.startsWith(magic, offset));
  if (format) return format[2];
  if (text.trimStart().startsWith('#EXTM3U')) return 'hls';
  if (start.length < sniffedBytes && !isWhole) return undefined;
  const hasHeaders = text.trimStart().startsWith('--') && /content-type: ?image\/jpe?g/i.test(text);
  if (hasHeaders || /^[\t\r\n -~]*\n\xff\xd8\xff/.test(text)) return 'motion-jpeg';
  const content = sniffBody(start);
  if (['a video file', 'something else'].includes(content) && hasPackets(start)) return 'mpeg-ts';
  return content === 'a damaged HLS playlist' ? 'hls' : content;
}

/** Returns true if three packets of MPEG-TS follow each other. */
export function hasPackets(start: Uint8Array): boolean {
  return findStride(start) !== undefined;
}

/** Content found instead of a playlist, worded for a remediation. */
export type ContentKind =
  | 'a video file'
  | 'a web page'
  | 'a DASH manifest'
  | 'a damaged HLS playlist'
  | 'an empty response'
  | 'something else';

/** Detects the content kind from the first bytes of a response body. */
export function sniffBody(body: Uint8Array): ContentKind {
  const start = Buffer.from(body.subarray(0, 1024)).toString('latin1').trimStart();
  if (body.length === 0) return 'an empty response';
  if (start.includes('#EXTM3U')) return 'a damaged HLS playlist';
  if (isVideo(body)) return 'a video file';
  if (/<MPD\b/.test(start)) return 'a DASH manifest';
  if (/<(!doctype html|html|head|body)\b/i.test(start)) return 'a web page';
  return 'something else';
}

/** Detects the content kind from the `Content-Type` header. */
export function kindFromContentType(contentType: string): ContentKind {
  if (/^video\//i.test(contentType)) return 'a video file';
  if (/^text\/html/i.test(contentType)) return 'a web page';
  if (/^application\/dash/i.test(contentType)) return 'a DASH manifest';
  return 'something else';
}

/** Detects ISO BMFF (MP4, MOV), Matroska and WebM, MPEG-TS, FLV and AVI. */
function isVideo(body: Uint8Array): boolean {
  const text = (from: number, to: number): string => Buffer.from(body.subarray(from, to)).toString('latin1');
  return (
    ['ftyp', 'moov', 'mdat', 'styp', 'moof'].includes(text(4, 8)) ||
    text(0, 4) === '\x1a\x45\xdf\xa3' ||
    (hasSyncByte(body, 0) && hasSyncByte(body, packetBytes)) ||
    text(0, 3) === 'FLV' ||
    (text(0, 4) === 'RIFF' && text(8, 12) === 'AVI ')
  );
}
