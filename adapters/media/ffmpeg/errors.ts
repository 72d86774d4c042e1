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

/** Error for an image or clip that cannot be decoded: wrong format, broken, or beyond the limits. */
export class ImageDecodeError extends Error {
  override readonly name = 'PictureDecodeError';
}
