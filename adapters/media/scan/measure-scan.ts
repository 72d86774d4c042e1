import type { Scan } from '../../../core/records/capture.ts';

/** Distance of key frames from which a scan decodes the frames between them, in seconds. */
export const sparseSeconds = 4;
/**
 * Minimum time between two frames of a scan: some streams have key frames only. It keeps one of each second where they
 * are not exact.
 */
export const minDistanceSeconds = 0.87;
/** Maximum bytes of all frames that a scan keeps for the model. */
export const maxPictureBytes = 12 * 1024 * 1024;
/** Maximum time that is reported as left out. */
const maxLeftOutSeconds = 3600;

export const noScan: Scan = {
  frames: [],
  coveredSeconds: 0,
  leftOutSeconds: 0,
  distanceSeconds: 0,
};

/**
 * Returns the scan of a capture that cannot look back, and the position after it: the time since the position is left
 * out.
 */
export function leaveOut(since: string | null, capturedAt: Date): { scan: Scan; position: string } {
  const atMs = capturedAt.getTime();
  return {
    scan: { ...noScan, leftOutSeconds: boundedSeconds(parsePosition(since)?.atMs ?? atMs, atMs) },
    position: formatPosition({ rendition: unknown, segment: unknown, atMs }),
  };
}

/** Returns the time between two times in seconds: 0 if the second one is earlier, and an hour at most. */
export function boundedSeconds(fromMs: number, toMs: number): number {
  return Math.min(Math.max(0, toMs - fromMs) / 1000, maxLeftOutSeconds);
}

/** Returns the longest time from one of the times to the next, in seconds. */
export function longestDistance(timesMs: readonly number[]): number {
  return (
    timesMs.reduce((longest, atMs, index) => Math.max(longest, atMs - (timesMs[index - 1] ?? atMs)), 0) / 1000
  );
}

/**
 * Position up to which a stream was scanned. Media sequence numbers and names are those of one rendition; the time, on
 * the clock of the captures, replaces them where they do not apply.
 */
export type ScanPosition = { rendition: string; segment: string; atMs: number };

/** Stands for the rendition, segment, session or key frame of a position of which only the time is known. */
export const unknown = '?';

/** Encodes a position: at most 200 characters, no part of a URL. */
export function formatPosition({ rendition, segment, atMs }: ScanPosition): string {
  return `${rendition} ${segment} ${Math.round(atMs)}`;
}

/** Decodes a position. Returns null before the first scan, and for unreadable text. */
export function parsePosition(text: string | null): ScanPosition | null {
  const [, rendition, segment, atMs] = /^(\S+) (\S+) (-?\d{1,16})$/.exec(text ?? '') ?? [];
  return rendition === undefined || segment === undefined ? null : { rendition, segment, atMs: Number(atMs) };
}
