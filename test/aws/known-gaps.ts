/** Cases of the conformance suite that this emulator cannot carry, each with the reason and with what covers it instead. */
export const knownGaps: Readonly<Record<string, string>> = {};
