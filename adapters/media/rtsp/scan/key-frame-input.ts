import type { PipeInput } from '../../ffmpeg/run-ffmpeg.ts';
import { writeTransportStream, type TimedUnit } from '../../mpeg-ts/write-transport-stream.ts';
import type { SessionTrack } from '../session/open-sessions.ts';

/**
 * Returns key frames as input of a decoder, each a stream of its own. MPEG-TS is written only if no shared decoder
 * reads them.
 */
export function keyFrameInput(codec: SessionTrack['codec'], units: readonly TimedUnit[]): PipeInput {
  return {
    kind: 'pipe',
    format: 'mpegts',
    chunks: writeEach(),
    ...(codec === 'H264' && { keyFrames: units.map(({ bytes }) => bytes) }),
  };

  async function* writeEach(): AsyncGenerator<Uint8Array> {
    for (const unit of units) yield writeTransportStream(codec, [unit]);
  }
}
