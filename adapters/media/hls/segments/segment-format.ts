import type { Segment } from '../playlist/playlist.ts';
import { StreamFetchError } from '../../../../core/errors.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { failureMessage } from '../../ffmpeg/run-ffmpeg.ts';
import { findPacket, packetBytes } from '../../mpeg-ts/packet.ts';
import { createTableReader } from '../../mpeg-ts/psi.ts';
import { hasOnlySoundMp4 } from './mp4-key-frames.ts';

const transportStream = /\.(ts|m2ts|mts|tsv)$/i;
const isoMedia = /\.(mp4|m4s|m4v|m4f|m4i|cmfv|cmfa|mov)$/i;

/**
 * Returns the ffmpeg demuxer for a segment. A media initialization section alone does not decide: MPEG-TS may have
 * one (with its tables), and segments that are whole MP4 files have none.
 */
export function segmentFormat(segment: Segment | undefined): 'mov' | 'mpegts' {
  if (segment === undefined) return 'mpegts';
  const { pathname } = new URL(segment.url);
  if (transportStream.test(pathname)) return 'mpegts';
  return segment.initialization !== null || isoMedia.test(pathname) ? 'mov' : 'mpegts';
}

/** Error for a stream without video, for which no further segment is awaited. */
export class AudioOnlyError extends StreamFetchError {
  override name = 'AudioOnlyError';

  constructor({ mode }: Pick<CaptureRequest, 'mode'>) {
    super('The stream has sound only. Use a stream with video.', failureMessage(mode));
  }
}

/**
 * Returns true if the tables of a segment name sound only, or it is packed audio. `bytes` begin with the media
 * initialization section of MP4.
 */
export function isAudioOnly(bytes: Uint8Array, format: 'mpegts' | 'mov'): boolean {
  if (format === 'mov') return hasOnlySoundMp4(bytes);
  return isPackedAudio(bytes) || hasOnlySoundTs(bytes);
}

/** A segment of ADTS, or one that begins with ID3 metadata (RFC 8216, 3.4). */
export function isPackedAudio(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  const isAdts = first === 0xff && (second & 0xf6) === 0xf0;
  return isAdts || Buffer.from(bytes.subarray(0, 3)).toString('latin1') === 'ID3';
}

/** Stream types of sound (MPEG, AAC, AC-3, E-AC-3), and of metadata beside it. */
const soundTypes = new Set([0x03, 0x04, 0x0f, 0x11, 0x81, 0x87]);
const metadataType = 0x15;

function hasOnlySoundTs(bytes: Uint8Array): boolean {
  const tables = createTableReader();
  for (let offset = findPacket(bytes, 0); offset + packetBytes <= bytes.length; offset += packetBytes) {
    if (!tables.read(bytes.subarray(offset, offset + packetBytes))) continue;
    const types = tables.types().filter((type) => type !== metadataType);
    if (types.length > 0) return types.every((type) => soundTypes.has(type));
  }
  return false;
}
