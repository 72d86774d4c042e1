/** Retentions of evidence, in days: each has a folder, and on AWS a lifecycle rule. */
export const evidenceDays = [1, 7, 30, 90] as const;

/** Folder of all evidence in the media store. */
export const evidenceFolder = 'evidence';

/** Returns the folders of the media of a source. */
export function mediaFolders(sourceId: string): string[] {
  return [`captures/${sourceId}/`, ...evidenceDays.map((days) => `${evidenceFolder}/${days}/${sourceId}/`)];
}

/**
 * Returns true if the evidence of an open alert is to be stored again by the tick that covers the time from `from` to before `to`, which follow
 * each other without a gap. Its retention would otherwise begin at the opening, which may be months ago.
 */
export function isRefreshDue(openedAt: string, from: Date, to: Date): boolean {
  const periods = (at: Date) => Math.floor((at.getTime() - Date.parse(openedAt)) / (refreshSeconds * 1000));
  return periods(to) > periods(from);
}

/** A quarter of the shortest retention, so that a tick that comes late is in time. */
const refreshSeconds = 6 * 3600;

/** Returns the key of the copy that outlives the capture: `evidence/7/<source>/<tick>-<id>.jpg`. The retention is rounded up. */
export function toEvidenceKey(frameKey: string, retentionDays: number): string {
  const days = evidenceDays.find((each) => each >= retentionDays) ?? 90;
  return frameKey.replace(/^captures\//, `${evidenceFolder}/${days}/`);
}

/** Returns the key of the frame of a capture of which this is a copy. */
export function toCaptureKey(evidenceKey: string): string {
  return evidenceKey.replace(/^evidence\/\d+\//, 'captures/');
}
