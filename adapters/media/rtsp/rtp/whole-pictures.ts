import type { VideoTrack } from '../protocol/video-track.ts';
import { createPacketOrder } from './packet-order.ts';
import { readRtp } from './rtp-packet.ts';

/** Packets of a track whose pictures are not read here, on their way to ffmpeg. */
export type WholePictures = {
  /**
   * Reads an interleaved packet, including its four-byte header. Returns the packets that can pass now: those of whole
   * pictures, as far as the codec shows them.
   */
  push(frame: Uint8Array): Uint8Array[];
  /** Returns true if a packet was missing. */
  isDamaged(): boolean;
};

/** Codecs of which all packets of a picture have the same timestamp. */
const withPictures: readonly VideoTrack['codec'][] = ['JPEG', 'MP4V-ES', 'VP8', 'VP9'];
const maxHeldBytes = 4 * 1024 * 1024;

export function createWholePictures({
  codec,
  payloadType,
}: Pick<VideoTrack, 'codec' | 'payloadType'>): WholePictures {
  const findPlace = createPacketOrder();
  const hasPictures = withPictures.includes(codec);
  let timestamp: number | null = null;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isWhole = true;
  let isDamaged = false;
  return { push, isDamaged: () => isDamaged };

  function push(frame: Uint8Array): Uint8Array[] {
    const packet = readRtp(frame);
    if (packet?.payloadType !== payloadType) return [frame];
    const place = findPlace(packet);
    if (place === 'none') return [];
    const isLost = place === 'after loss';
    isDamaged ||= isLost;
    if (!hasPictures) return [frame];
    if (isLost) isWhole = false;
    const before = packet.timestamp === timestamp ? [] : release();
    if (packet.timestamp !== timestamp) isWhole = !isLost;
    timestamp = packet.timestamp;
    heldBytes += frame.length;
    if (heldBytes > maxHeldBytes) [held, isWhole] = [[], false];
    held.push(frame);
    return packet.isMarked ? [...before, ...release()] : before;
  }

  function release(): Uint8Array[] {
    const released = isWhole ? held : [];
    [held, heldBytes] = [[], 0];
    return released;
  }
}
