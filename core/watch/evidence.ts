/** Retentions of evidence, in days: each has a folder, and on AWS a lifecycle rule. */
export const evidenceDays = [1, 7, 30, 90] as const;

/** Folder of all evidence in the media store. */
export const evidenceFolder = 'evidence';

/** Returns the folders of the media of a source. */
export function mediaFolders(sourceId: string): string[] {
  return [`captures/${sourceId}/`, ...evidenceDays.map((days) => `${evidenceFolder}/${days}/${sourceId}/`)];
}

/** Returns the key of the copy that outlives the capture: `evidence/7/<source>/<tick>-<id>.jpg`. The retention is rounded up. */
export function toEvidenceKey(frameKey: string, retentionDays: number): string {
  const days = evidenceDays.find((each) => each >= retentionDays) ?? 90;
  return frameKey.replace(/^captures\//, `${evidenceFolder}/${days}/`);
}
