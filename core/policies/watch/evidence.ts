/** Retentions of evidence, in days: each has a folder, and on AWS a lifecycle rule. */
export const evidenceDays = [1, 7, 30, 90] as const;

/** Folder of all evidence in the media store. */
export const evidenceFolder = 'evidence';

/** Days of the memory of watches, each with a folder and a lifecycle rule like evidence. */
export const momentDays = [1, 3, 7, 30, 90] as const;

/** Folder of the pictures of moments in the media store. */
export const momentFolder = 'moments';

/** Folder of the clips of alerts in the media store. */
export const clipFolder = 'clips';

/** Folders of media with their days, without those of captures. */
export const keptFolders = [
  ...evidenceDays.map((days) => ({ folder: evidenceFolder, days })),
  ...evidenceDays.map((days) => ({ folder: clipFolder, days })),
  ...momentDays.map((days) => ({ folder: momentFolder, days })),
];

export function mediaFolders(sourceId: string): string[] {
  return [
    `captures/${sourceId}/`,
    ...keptFolders.map(({ folder, days }) => `${folder}/${days}/${sourceId}/`),
  ];
}

/**
 * Returns the folder of the frames of a capture: those that are judged may be kept for the days of the memory, rounded
 * up.
 */
export function frameFolder(memoryDays: number): string {
  return memoryDays === 0
    ? 'captures'
    : `${momentFolder}/${momentDays.find((each) => each >= memoryDays) ?? 90}`;
}

/**
 * Returns true if the evidence of an open alert is to be stored again by the tick that covers the time from `from` to
 * before `to`, which follow each other without a gap. Its retention would otherwise begin at the opening, which may be
 * months ago.
 */
export function isRefreshDue(openedAt: string, from: Date, to: Date): boolean {
  const periods = (time: Date) =>
    Math.floor((time.getTime() - Date.parse(openedAt)) / (refreshSeconds * 1000));
  return periods(to) > periods(from);
}

/** A quarter of the shortest retention, so that a tick that comes late is in time. */
const refreshSeconds = 6 * 3600;

/**
 * Returns the key of the copy that outlives the capture: `evidence/7/<source>/<tick>-<id>.jpg`. The retention is
 * rounded up.
 */
export function toEvidenceKey(frameKey: string, retentionDays: number): string {
  return `${evidenceFolder}/${roundUp(retentionDays)}/${mediaName(frameKey)}`;
}

export function toClipKey(sourceId: string, alertId: string, retentionDays: number): string {
  return `${clipFolder}/${roundUp(retentionDays)}/${sourceId}/${alertId}.mp4`;
}

function roundUp(retentionDays: number): number {
  return evidenceDays.find((each) => each >= retentionDays) ?? 90;
}

/** Returns the part of a key that a frame and its copies share: `<source>/<tick>-<id>.jpg`. */
export function mediaName(key: string): string {
  return key.split('/').slice(-2).join('/');
}
