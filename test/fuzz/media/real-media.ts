import { createImageDecoder } from '../../../adapters/media/ffmpeg/decode-image.ts';
import { encodeJpeg } from '../../../adapters/media/images/contact-sheet.ts';
import { ffmpegPath, record } from '../../support/hls/recording.ts';
import type { Real } from './properties.ts';

export async function realMedia(): Promise<Real> {
  const [transport, fragmented] = await Promise.all([record(), record({ segmentType: 'fmp4' })]);
  const rgb = Uint8Array.from({ length: 64 * 36 * 3 }, (_, at) => (at * 7) % 256);
  const jpeg = await encodeJpeg(rgb, { width: 64, height: 36 }, ffmpegPath, new AbortController().signal);
  return { transport, fragmented, jpeg, decoder: createImageDecoder({ ffmpegPath }) };
}
