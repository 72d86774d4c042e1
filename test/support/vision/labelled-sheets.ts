import type { ContactSheets } from '../../../core/ports/contact-sheets.ts';

/** A sheet that is nothing but the first bytes of its pictures, so that a test sees what is on it. */
export const labelledSheets: ContactSheets = {
  make: async (samples) => new Uint8Array(samples.map(({ frame }) => frame[0] ?? 0)),
};
