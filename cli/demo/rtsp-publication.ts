import { randomInt } from 'node:crypto';
import { nalType, rtpPayloads, readType, type AccessUnit } from './rtsp-h264.ts';

/** Live stream of a demo server, with its viewers. */
export type Publication = {
  publish(picture: AccessUnit, timestampMs: number): void;
  /** Resolves to the SDP when the parameter sets are known; rejects if the stream ends before. */
  description(): Promise<string>;
  /** Sends RTP packets to a viewer, starting at the next key frame. Returns a function that stops it. */
  watch(take: (packet: Buffer) => void): () => void;
  fail(error: Error): void;
};

/** Creates a publication. `range` is the value of `a=range` in the SDP. */
export function createPublication(range: string): Publication {
  const described = Promise.withResolvers<string>();
  described.promise.catch(() => undefined);
  const viewers = new Map<(packet: Buffer) => void, { started: boolean }>();
  const source = randomInt(2 ** 31);
  let sequence = 0;

  return {
    publish(picture, timestampMs) {
      const description = describe(picture, range);
      if (description !== null) described.resolve(description);
      const packets = picture.nalUnits.flatMap(rtpPayloads).map((payload, index, all) => {
        sequence = (sequence + 1) & 0xffff;
        return rtpPacket({ payload, sequence, timestampMs, source, isLast: index === all.length - 1 });
      });
      for (const [take, viewer] of viewers) {
        viewer.started ||= picture.isKeyFrame;
        if (viewer.started) packets.forEach(take);
      }
    },
    description: () => described.promise,
    watch(take) {
      viewers.set(take, { started: false });
      return () => void viewers.delete(take);
    },
    fail: (error) => described.reject(error),
  };
}

function describe(picture: AccessUnit, range: string): string | null {
  const sequenceParameters = picture.nalUnits.find((unit) => readType(unit) === nalType.sequenceParameters);
  const pictureParameters = picture.nalUnits.find((unit) => readType(unit) === nalType.pictureParameters);
  if (sequenceParameters === undefined || pictureParameters === undefined) return null;
  const profile = sequenceParameters.toString('hex', 1, 4);
  const sets = [sequenceParameters, pictureParameters].map((unit) => unit.toString('base64')).join(',');
  return [
    'v=0',
    'o=- 0 0 IN IP4 127.0.0.1',
    's=Watchpost demo',
    'c=IN IP4 0.0.0.0',
    't=0 0',
    `a=range:${range}`,
    'a=control:*',
    `m=video 0 RTP/AVP ${payloadType}`,
    `a=rtpmap:${payloadType} H264/${clockRate}`,
    `a=fmtp:${payloadType} packetization-mode=1;profile-level-id=${profile};sprop-parameter-sets=${sets}`,
    `a=control:${trackName}`,
    '',
  ].join('\r\n');
}

/** Control name of the only track, in the SDP and in SETUP. */
export const trackName = 'trackID=0';
const payloadType = 96;
const clockRate = 90_000;

type Packet = { payload: Buffer; sequence: number; timestampMs: number; source: number; isLast: boolean };

function rtpPacket({ payload, sequence, timestampMs, source, isLast }: Packet): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt8(0x80, 0);
  head.writeUInt8((isLast ? 0x80 : 0) | payloadType, 1);
  head.writeUInt16BE(sequence, 2);
  head.writeUInt32BE(Math.round((timestampMs * clockRate) / 1000) % 2 ** 32, 4);
  head.writeUInt32BE(source, 8);
  return Buffer.concat([head, payload]);
}
