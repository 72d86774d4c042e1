import { readCodedPicture, type CodedPicture } from '../h264/coded-picture.ts';
import { indexAccessUnits } from './access-units.ts';
import { packetBytes, packetPayload, readByte, readPid, startsPayloadUnit } from './packet.ts';

const pesHeaderBytes = 9;

/** Returns the H.264 key frame of an MPEG-TS extract that holds nothing else. Returns null for other input, and in any doubt. */
export function readKeyFrameUnits(extract: Uint8Array): CodedPicture | null {
  const found = indexAccessUnits([extract]);
  if (found === null || found.accessUnits.length !== 1 || !found.accessUnits[0]?.isKeyFrame) return null;
  const parts: Uint8Array[] = [];
  for (let at = 0; at + packetBytes <= extract.length; at += packetBytes) {
    if (readPid(extract, at) !== found.videoPid) continue;
    const payload = packetPayload(extract.subarray(at, at + packetBytes));
    parts.push(
      startsPayloadUnit(extract, at) ? payload.subarray(pesHeaderBytes + readByte(payload, 8)) : payload,
    );
  }
  return readCodedPicture(Buffer.concat(parts));
}
