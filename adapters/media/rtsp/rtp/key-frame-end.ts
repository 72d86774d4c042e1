import { createEntryPointReader, type EntryPointReader } from '../../h264/entry-point.ts';
import { nalRules, unitsBegun } from './nal-units.ts';
import { readRtp, rtpDifference } from './rtp-packet.ts';
import type { VideoTrack } from '../protocol/video-track.ts';

/**
 * Detects the end of the first complete key frame of a track. With B-frames, a decoder delays a key frame until it
 * has read later ones: for key frames only, two GOPs, 6 to 30 s. At the end of its input it outputs the frame
 * immediately.
 */
export type KeyFrameEndDetector = {
  /**
   * Reads an interleaved RTP or RTCP packet, including its four-byte header. Returns true from the first packet
   * after the key frame, or after the begin of an intra refresh.
   */
  isPast(frame: Uint8Array): boolean;
  /** Time from the first packet to the first key frame, in seconds; 0 before it. */
  secondsBefore(): number;
  /** Returns true if an intra refresh has begun, which H.264 can have in the place of key frames. */
  isRefreshed(): boolean;
};

/**
 * Creates a detector for H.264 and H.265. For other codecs, and for streams without key frames, `isPast` stays
 * false.
 */
export function createKeyFrameEndDetector(
  track: Pick<VideoTrack, 'codec' | 'payloadType' | 'clockRate'>,
): KeyFrameEndDetector {
  const rules = nalRules({ ...track, parameters: null });
  let timestamp: number | null = null;
  let unit: EntryPointReader | null = null;
  /** False if the stream was joined within the access unit. */
  let whole = false;
  let past = false;
  let isRefreshed = false;
  let isCounted = false;
  let begin: number | null = null;
  let secondsBefore = 0;
  return {
    secondsBefore: () => secondsBefore,
    isRefreshed: () => isRefreshed,
    isPast: (frame) => {
      const packet = readRtp(frame);
      if (past || rules === null || packet?.payloadType !== track.payloadType) return past;
      const begun = unitsBegun(packet.payload, rules);
      if (packet.timestamp !== timestamp || unit === null) {
        const entry = whole ? unit?.entryPoint() : null;
        isRefreshed = rules.codec === 'H264' && (entry?.recoveryFrames ?? 0) > 0;
        past = entry?.recoveryFrames === 0 || isRefreshed;
        const [first] = begun;
        whole = timestamp !== null || (first !== undefined && !rules.isSlice(rules.readType(first[0] ?? 0)));
        unit = createEntryPointReader(rules);
        timestamp = packet.timestamp;
      }
      begin ??= packet.timestamp;
      for (const each of begun) unit.note(each);
      if (unit.entryPoint() && !isCounted && !past) {
        isCounted = true;
        secondsBefore = rtpDifference(begin, packet.timestamp) / track.clockRate;
      }
      return past;
    },
  };
}
