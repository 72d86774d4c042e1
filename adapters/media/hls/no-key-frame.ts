import type { CaptureRequest } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { failureMessage } from '../ffmpeg/run-ffmpeg.ts';

/** Time for which segments are searched for a key frame, in seconds: some seconds more than most GOPs. */
export const searchedSeconds = 12;

/** Error for segments of which nothing could be decoded, and in which no key frame is marked. */
export class NoKeyFrameError extends NoFrameDecodedError {
  override name = 'NoKeyFrameError';

  constructor({ mode }: Pick<CaptureRequest, 'mode'>, cause?: Error) {
    const remediation = `The newest segments have no key frame, also within ${searchedSeconds} s. Set the key frame interval of the encoder to 2 s, then try again.`;
    super(remediation, failureMessage(mode), { cause });
  }
}
