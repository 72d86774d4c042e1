import { hasSyncByte, packetBytes } from '../../mpeg-ts/packet.ts';

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
