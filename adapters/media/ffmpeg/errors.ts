import { StreamFetchError, WatchpostError } from '../../../core/errors.ts';

/**
 * Error for a missing ffmpeg, or one without the features that captures need. `remediation` lists install commands.
 */
export class FfmpegMissingError extends WatchpostError {
  override name = 'FfmpegMissingError';

  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super('INTERNAL_ERROR', message, remediation, options);
  }
}

/** Error for an input that ffmpeg read to the end without finding a complete frame. */
export class NoFrameDecodedError extends StreamFetchError {
  override name = 'NoFrameDecodedError';
}

/** Remediation of a stream whose pictures arrive with holes. */
export const damageRemediation =
  'Packets are lost on the way from the camera, so that no picture is whole. Use a cable or a better wireless link, a lower bit rate or the second stream of the camera, and RTSP over TCP up to the server of the stream.';

/**
 * Creates the error for a stream of which no picture arrives whole. A decoder would fill the holes with pictures that
 * nobody sent.
 */
export function damagedStream(message: string, cause?: unknown): NoFrameDecodedError {
  return new NoFrameDecodedError(damageRemediation, message, { cause, isDamaged: true });
}

/** Error for an image or clip that cannot be decoded: wrong format, broken, or beyond the limits. */
export class ImageDecodeError extends Error {
  override readonly name = 'PictureDecodeError';
}
