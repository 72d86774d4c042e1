import { StreamFetchError, WatchpostError } from '../../../core/errors.ts';

/** There is no ffmpeg to run, or the one that was found cannot do what captures need. `remediation` holds the commands to type. */
export class FfmpegMissingError extends WatchpostError {
  constructor(message: string, remediation: string, options?: ErrorOptions) {
    super('INTERNAL_ERROR', message, remediation, options);
  }
}

/** ffmpeg read its input to the end and found no complete picture in it. */
export class NoPictureError extends StreamFetchError {}

/** A picture or clip that cannot be decoded: no JPEG or MP4, broken, or larger than the limits allow. */
export class PictureDecodeError extends Error {
  override readonly name = 'PictureDecodeError';
}
