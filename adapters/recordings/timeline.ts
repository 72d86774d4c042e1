import type { RecordingFacts } from './probe-recording.ts';
import { recordedAt } from './recorded-at.ts';

/** Recording at its place in the timeline. Times in seconds from the beginning of the first one. `keyFrameSeconds` is the longest time without a key frame. */
export type TimelineFile = Probed & { startSeconds: number; keyFrameSeconds: number };

/** Recordings in order of their times. Between two of them there can be gaps. */
export type Timeline = { files: TimelineFile[]; beginsAt: Date; durationSeconds: number };

type Probed = RecordingFacts & { path: string };

/**
 * Differences up to this are rounding of times in names, not gaps, in seconds: recorders name files by whole seconds and cut at
 * key frames.
 */
const contiguousSeconds = 2;

/** The time of a recording whose path has none. */
const unknownBegin = new Date('2000-01-01T00:00:00Z');

/**
 * Arranges recordings by the times in their paths. Without times, each follows the one before. Overlapping recordings are moved
 * behind each other.
 */
export function arrangeTimeline(recordings: readonly Probed[]): Timeline {
  const dated = recordings.map((recording) => ({ ...recording, at: recordedAt(recording.path) }));
  const allDated = dated.every(({ at }) => at !== undefined);
  const ordered = allDated ? dated.toSorted((a, b) => millis(a.at) - millis(b.at)) : dated;
  const beginsAt = ordered[0]?.at ?? unknownBegin;
  const files: TimelineFile[] = [];
  let endSeconds = 0;
  for (const { at, ...recording } of ordered) {
    const named = allDated ? (millis(at) - beginsAt.getTime()) / 1000 : endSeconds;
    const startSeconds = named - endSeconds > contiguousSeconds ? named : endSeconds;
    const gaps = recording.keyFrames.map((_, index) => gapAfter(recording, index));
    files.push({
      ...recording,
      startSeconds,
      keyFrameSeconds: gaps.reduce((one, other) => Math.max(one, other), 0),
    });
    endSeconds = startSeconds + recording.durationSeconds;
  }
  return { files, beginsAt, durationSeconds: endSeconds };
}

/** Returns the time from a key frame to the next one, or to the end. */
export function gapAfter({ keyFrames, durationSeconds }: RecordingFacts, index: number): number {
  return (keyFrames[index + 1] ?? durationSeconds) - (keyFrames[index] ?? 0);
}

function millis(at: Date | undefined): number {
  return at?.getTime() ?? 0;
}

/** Returns the file at a time, or `undefined` in a gap and after the end. */
export function fileAt({ files }: Timeline, seconds: number): TimelineFile | undefined {
  const file = files.findLast(({ startSeconds }) => startSeconds <= seconds);
  return file !== undefined && seconds < file.startSeconds + file.durationSeconds ? file : undefined;
}

/** Returns the start of the first file at or after a time, or `undefined` after the last one. */
export function nextStart({ files }: Timeline, seconds: number): number | undefined {
  return files.find(({ startSeconds }) => startSeconds >= seconds)?.startSeconds;
}
