import type { CoreDeps } from '../dependencies.ts';
import { UnreadableFrameError } from '../errors.ts';
import { readJpegHeader } from './jpeg.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Answer } from '../records/vision.ts';

type Deps = Pick<CoreDeps, 'limits' | 'usage'> & { vision: Pick<VisionModel, 'answer'> };

/** Answers a question about one JPEG, given as raw base64. Throws `UnreadableFrameError` and `VisionError`. */
export async function analyzeFrame(
  frameBase64: string,
  question: string,
  caller: string,
  deps: Deps,
): Promise<Answer> {
  const frame = readFrame(frameBase64);
  const timeout = AbortSignal.timeout(deps.limits.visionTimeoutSeconds * 1000);
  return deps.usage.charge(caller, () => deps.vision.answer(frame, question, timeout));
}

/** Minimum size of a JPEG, in bytes. Markers, tables and a frame header alone need more. */
const minJpegBytes = 100;
/** Maximum pixels of a JPEG, as for a capture (`maxPixels` of the decoder): enough for 4K and 12 megapixels. */
const maxJpegPixels = 4096 * 3072;

function readFrame(base64: string): Uint8Array {
  const bytes = decodeBase64(base64);
  if (bytes.length < minJpegBytes)
    throw new UnreadableFrameError('Send a complete JPEG: frame_b64 is too small to be one.');
  const header = readJpegHeader(bytes);
  if (header === undefined)
    throw new UnreadableFrameError(
      'Send a baseline or progressive JPEG: frame_b64 is no JPEG, or a damaged one.',
    );
  if (header.width * header.height > maxJpegPixels)
    throw new UnreadableFrameError(
      `Send at most 4096 x 3072: the image has ${header.width} x ${header.height} pixels. A width of 896 is enough for the model.`,
    );
  return bytes;
}

/** Decodes padded base64 without line breaks and URL-safe letters. `Buffer` alone ignores invalid characters. */
function decodeBase64(text: string): Uint8Array {
  if (text.startsWith('data:'))
    throw new UnreadableFrameError('Send frame_b64 as raw base64, without the data: prefix.');
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, '')))
    throw new UnreadableFrameError(
      'Send frame_b64 as padded base64 (A-Z a-z 0-9 + /) without line breaks: it is malformed base64.',
    );
  return Buffer.from(text, 'base64');
}
