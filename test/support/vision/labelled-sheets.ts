import type { ContactSheets } from '../../../core/ports/stream-capturer.ts';

/** Contact sheets that consist of the first bytes of their images, so that a test can read their content. */
export const labelledSheets: ContactSheets = {
  make: async (samples) => new Uint8Array(samples.map(({ frame }) => frame[0] ?? 0)),
};
