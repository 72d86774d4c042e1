export type LayerArchitecture = 'arm64' | 'x86_64';

/** Error for a file that is missing in the release or could not be downloaded. */
export class DownloadError extends Error {}

export type FetchedBinary = { origin: string; binary: Uint8Array; texts: Record<string, string> };
