import type { CaptureRequest } from '../../../core/records/capture.ts';
import { decodeNewest } from '../ffmpeg/decode-frame.ts';
import type { FfmpegOutput, FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { clipEndPtsSeconds, lastFramePts } from '../mpeg-ts/trim-transport-stream.ts';
import { ptsPerSecond } from '../mpeg-ts/pes-packet.ts';
import { writeTransportStream } from '../mpeg-ts/write-transport-stream.ts';
import { rtpDifference } from './rtp/rtp-packet.ts';
import type { SessionUnits } from './session/rtsp-sessions.ts';
import { keyFrameInput } from './scan/key-frame-input.ts';

const timeoutMs = 25_000;

/**
 * Decodes access units of a session like segments of HLS: MPEG-TS through a pipe, so that decoders that stay and spare
 * processes serve them. ffmpeg opens no connection.
 */
export async function decodeSession(
  read: SessionUnits,
  request: CaptureRequest,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<FfmpegOutput> {
  const units = timeUnits(read);
  if (read.kind === 'key frame')
    return ffmpeg.run(keyFrameInput(read.codec, units), request, { timeoutMs }, signal);
  const chunks = [writeTransportStream(read.codec, units)];
  const isRefreshed = read.units.some(({ recoveryFrames }) => recoveryFrames !== undefined);
  const ended = {
    kind: 'pipe',
    format: 'mpegts',
    chunks,
    endsAtSeconds: clipEndPtsSeconds,
    isRefreshed,
  } as const;
  if (read.kind === 'clip') return ffmpeg.run(ended, request, { timeoutMs }, signal);
  return decodeNewest(ffmpeg, ended, { timeoutMs }, signal);
}

/** Converts timestamps to those of MPEG-TS. The newest frame always has the same. */
export function timeUnits({ units, clockRate }: Pick<SessionUnits, 'units' | 'clockRate'>) {
  const [first] = units;
  const offsets = units.map((unit) => rtpDifference(first?.timestamp ?? 0, unit.timestamp));
  const newest = offsets.reduce((most, offset) => Math.max(most, offset), 0);
  return units.map(({ bytes, isKeyFrame }, index) => ({
    bytes,
    isKeyFrame,
    pts: lastFramePts - Math.round(((newest - (offsets[index] ?? 0)) * ptsPerSecond) / clockRate),
  }));
}
