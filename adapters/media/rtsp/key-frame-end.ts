import { readRtp, rtpDifference } from './rtp-packet.ts';
import type { VideoTrack } from './video-track.ts';

/**
 * Detects the end of the first complete key frame of a track. With B-frames, a decoder delays a key frame until it
 * has read later ones: for key frames only, two GOPs, 6 to 30 s. At the end of its input it outputs the frame
 * immediately.
 */
export type KeyFrameEndDetector = {
  /**
   * Reads an interleaved RTP or RTCP packet, including its four-byte header. Returns true from the first packet
   * after the key frame.
   */
  isPast(frame: Uint8Array): boolean;
  /** Time from the first packet to the first key frame, in seconds; 0 before it. */
  secondsBefore(): number;
};

/**
 * Creates a detector for H.264 and H.265. For other codecs, and for streams without key frames, `isPast` stays
 * false.
 */
export function createKeyFrameEndDetector(
  track: Pick<VideoTrack, 'codec' | 'payloadType' | 'clockRate'>,
): KeyFrameEndDetector {
  const classify = track.codec === 'H264' ? classifyH264 : track.codec === 'H265' ? classifyH265 : null;
  let timestamp: number | null = null;
  /** False if the stream was joined within the access unit. */
  let whole = false;
  let isKeyFrame = false;
  let past = false;
  let begin: number | null = null;
  let secondsBefore = 0;
  return {
    secondsBefore: () => secondsBefore,
    isPast: (frame) => {
      const packet = readRtp(frame);
      if (past || classify === null || packet?.payloadType !== track.payloadType) return past;
      const kind = classify(packet.payload);
      if (packet.timestamp !== timestamp) {
        past = whole && isKeyFrame;
        whole = timestamp !== null || kind.beginsPicture;
        isKeyFrame = false;
        timestamp = packet.timestamp;
      }
      begin ??= packet.timestamp;
      if (kind.isKeyFrame && !isKeyFrame && !past)
        secondsBefore = rtpDifference(begin, packet.timestamp) / track.clockRate;
      isKeyFrame ||= kind.isKeyFrame;
      return past;
    },
  };
}

/** Content of a packet. Parameter sets and similar units precede the first slice of an access unit. */
type Kind = { isKeyFrame: boolean; beginsPicture: boolean };

/** Classifies an H.264 payload (RFC 6184, 5.2). */
function classifyH264(payload: Uint8Array): Kind {
  const type = (payload[0] ?? 0) & 0x1f;
  const [singleTimeAggregate, fragment] = [24, 28];
  if (type === singleTimeAggregate) return unite(unitTypes(payload, 1).map((first) => h264(first & 0x1f)));
  return h264(type === fragment ? (payload[1] ?? 0) & 0x1f : type);
}

function h264(type: number): Kind {
  return { isKeyFrame: type === 5, beginsPicture: type >= 6 && type <= 9 };
}

/** Classifies an H.265 payload (RFC 7798, 4.4). */
function classifyH265(payload: Uint8Array): Kind {
  const type = ((payload[0] ?? 0) >> 1) & 0x3f;
  const [aggregate, fragment] = [48, 49];
  if (type === aggregate) return unite(unitTypes(payload, 2).map((first) => h265((first >> 1) & 0x3f)));
  return h265(type === fragment ? (payload[2] ?? 0) & 0x3f : type);
}

function h265(type: number): Kind {
  return {
    isKeyFrame: type >= 16 && type <= 21,
    beginsPicture: (type >= 32 && type <= 35) || type === 39,
  };
}

/** Returns the first byte of each NAL unit in an aggregation packet. Each unit has a 16-bit length. */
function unitTypes(payload: Uint8Array, headBytes: number): number[] {
  const firsts: number[] = [];
  for (let at = headBytes; at + 2 < payload.length;) {
    firsts.push(payload[at + 2] ?? 0);
    at += 2 + (payload[at] ?? 0) * 256 + (payload[at + 1] ?? 0);
  }
  return firsts;
}

function unite(kinds: Kind[]): Kind {
  return {
    isKeyFrame: kinds.some(({ isKeyFrame }) => isKeyFrame),
    beginsPicture: kinds[0]?.beginsPicture ?? false,
  };
}
