import type { CoreDeps } from '../dependencies.ts';
import { UnreadableFrameError } from '../errors.ts';
import { readJpegHeader } from './jpeg.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Answer } from '../records/vision.ts';

type Deps = Pick<CoreDeps, 'limits'> & { vision: Pick<VisionModel, 'answer'> };

/** Answers a question about one JPEG, given as raw base64. Throws `UnreadableFrameError` and `VisionError`. */
export async function analyzeFrame(frameBase64: string, question: string, deps: Deps): Promise<Answer> {
  const frame = readFrame(frameBase64);
  return deps.vision.answer(frame, question, AbortSignal.timeout(deps.limits.visionTimeoutSeconds * 1000));
}

/** Markers, one table of each kind and a frame header take more. */
const minJpegBytes = 100;
/** As many as a capture may have (`maxPixels` of the decoder): above every camera of 4K and 12 megapixels. */
const maxJpegPixels = 4096 * 3072;

function readFrame(base64: string): Uint8Array {
  const bytes = decodeBase64(base64);
  if (bytes.length < minJpegBytes)
    throw new UnreadableFrameError('frame_b64 is too small to be a JPEG. Send a whole picture.');
  const header = readJpegHeader(bytes);
  if (header === undefined)
    throw new UnreadableFrameError(
      'frame_b64 is no JPEG, or a damaged one. Send a baseline or progressive JPEG.',
    );
  if (header.width * header.height > maxJpegPixels)
    throw new UnreadableFrameError(
      `The picture has ${header.width} x ${header.height} pixels. Send at most 4096 x 3072; a width of 896 is enough for the model.`,
    );
  return bytes;
}

/** Strict: no line breaks, no URL-safe letters, padded. `Buffer` alone would skip what it does not know. */
function decodeBase64(text: string): Uint8Array {
  if (text.startsWith('data:'))
    throw new UnreadableFrameError('Send frame_b64 as raw base64, without the data: prefix.');
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, '')))
    throw new UnreadableFrameError(
      'frame_b64 is malformed base64. Send the standard alphabet (A-Z a-z 0-9 + /) with padding, without line breaks.',
    );
  return Buffer.from(text, 'base64');
}
