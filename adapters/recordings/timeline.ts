import type { RecordingFacts } from './probe-recording.ts';
import { parseIsoTime } from '../../core/outside-time.ts';

/**
 * Recording at its place in the timeline. Times in seconds from the beginning of the first one. `keyFrameSeconds` is
 * the longest time without a key frame.
 */
export type TimelineFile = Probed & { startSeconds: number; keyFrameSeconds: number };

/** Recordings in order of their times. Between two of them there can be gaps. */
export type Timeline = { files: TimelineFile[]; beginsAt: Date; durationSeconds: number };

type Probed = RecordingFacts & { path: string };

/**
 * Differences up to this are rounding of times in names, not gaps, in seconds: recorders name files by whole seconds
 * and cut at key frames.
 */
const contiguousSeconds = 2;

/** The time of a recording whose path has none. */
const unknownBegin = new Date('2000-01-01T00:00:00Z');

/**
 * Arranges recordings by the times in their paths. Without times, each follows the one before. Overlapping recordings
 * are moved behind each other.
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

function millis(time: Date | undefined): number {
  return time?.getTime() ?? 0;
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

/**
 * Returns the start of a recording by its path, or `undefined` if the path has no time. Understands Frigate's folders
 * (`recordings/2026-11-20/14/front_door/35.12.mp4`, UTC: https://docs.frigate.video/configuration/record/) and file
 * names that contain a date and a time (`2026-11-20_14-35-12.mp4`, `cam1_20261120T143512.ts`, `20261120143512.mkv`).
 */
export function recordedAt(path: string): Date | undefined {
  const frigate = /(\d{4}-\d{2}-\d{2})\/(\d{2})\/[^/]+\/(\d{2})\.(\d{2})\.[a-z0-9]+$/i.exec(path);
  if (frigate) return parsed(`${frigate[1]}T${frigate[2]}:${frigate[3]}:${frigate[4]}Z`);
  const name = /(\d{4})-?(\d{2})-?(\d{2})[T_\- ]?(\d{2})[-:._]?(\d{2})[-:._]?(\d{2})/.exec(
    path.slice(path.lastIndexOf('/') + 1),
  );
  if (!name) return undefined;
  const [, year, month, day, hour, minute, second] = name;
  return parsed(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Returns the camera of a file in Frigate's folders. */
export function recordedCamera(path: string): string | undefined {
  return /\d{4}-\d{2}-\d{2}\/\d{2}\/([^/]+)\/\d{2}\.\d{2}\.[a-z0-9]+$/i.exec(path)?.[1];
}

function parsed(text: string): Date | undefined {
  const atMs = parseIsoTime(text);
  // An impossible date, such as the digits of a serial number, is no time.
  return atMs === undefined || atMs < Date.UTC(1990) ? undefined : new Date(atMs);
}
