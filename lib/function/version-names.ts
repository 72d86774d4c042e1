/** Alias of each function, which everything invokes. */
export const liveAlias = 'live';

/** Returns the description of a function, which its published versions keep. */
export function describeFunction(name: string, release: string): string {
  return `Watchpost: ${name}, release ${release}`;
}

/** Reads the release from a description. Returns undefined for a version without one. */
export function readRelease(description: string | undefined): string | undefined {
  return /^Watchpost: \w+, release (\S+)$/.exec(description ?? '')?.[1];
}
