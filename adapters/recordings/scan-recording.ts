import { rules } from '../../core/rules.ts';
import type { Scan, ScannedFrame } from '../../core/records/capture.ts';
import { createScannedFrame } from '../media/scan/frame-pictures.ts';
import { longestDistance, minDistanceSeconds } from '../media/scan/measure-scan.ts';
import type { PlayedFrame } from './played-frames.ts';
import type { Timeline } from './timeline.ts';

/** Frames that a recording capturer has passed, for captures that look back. Times in seconds of the timeline. */
export type PassedFrames = {
  add(frame: PassedFrame): void;
  /** Decodes what only an open recording can decode. */
  settle(): Promise<void>;
  /** Returns the scan before a capture since a position; `null` for the first one. */
  scan(since: string | null, seconds: number, timeline: Timeline): Promise<Scan>;
};

type PassedFrame = PlayedFrame & { isKeyFrame: boolean };

const { maxScanSeconds } = rules;

/** Creates the list of passed frames. It drops those that no scan can reach. */
export function createPassedFrames(): PassedFrames {
  let passed: PassedFrame[] = [];
  return { add, settle, scan };

  function add(next: PassedFrame): void {
    const { seconds } = next;
    // A recording may be read again from its start.
    passed = passed.filter((frame) => frame.seconds < seconds);
    const last = passed.findLast(({ isKeyFrame }) => isKeyFrame || !next.isKeyFrame);
    if (last && seconds - last.seconds < minDistanceSeconds) return;
    passed.push(next);
    passed = passed.filter((frame) => seconds - frame.seconds <= maxScanSeconds);
  }

  async function settle(): Promise<void> {
    for (const frame of passed) {
      const picture = await frame.read();
      frame.read = async () => picture;
    }
  }

  async function scan(since: string | null, seconds: number, timeline: Timeline): Promise<Scan> {
    const sinceSeconds = since === null ? seconds : Number(since);
    const frames: ScannedFrame[] = [];
    for (const each of passed) {
      if (each.seconds <= sinceSeconds || each.seconds > seconds - minDistanceSeconds) continue;
      const picture = await each.read();
      const atMs = timeline.beginsAt.getTime() + each.seconds * 1000;
      if (picture) frames.push(createScannedFrame(atMs, picture.thumbnail, async () => picture.frame));
    }
    const oldest = Math.max(sinceSeconds, seconds - maxScanSeconds);
    const capturedMs = timeline.beginsAt.getTime() + seconds * 1000;
    return {
      frames,
      coveredSeconds: Math.max(0, seconds - Math.max(oldest, spanStart(timeline, seconds))),
      leftOutSeconds: Math.max(0, seconds - sinceSeconds - recordedSeconds(timeline, oldest, seconds)),
      distanceSeconds: longestDistance([...frames.map(({ at }) => at.getTime()), capturedMs]),
    };
  }
}

/** Returns the start of the recordings without a gap that hold a time. */
function spanStart({ files }: Timeline, seconds: number): number {
  let start = seconds;
  for (const file of files.toReversed()) {
    if (file.startSeconds >= start) continue;
    if (file.startSeconds + file.durationSeconds < start - toleranceSeconds) break;
    start = file.startSeconds;
  }
  return start;
}

/** Returns the time between two times of which there is a recording. */
function recordedSeconds({ files }: Timeline, from: number, to: number): number {
  return files.reduce((sum, { startSeconds, durationSeconds }) => {
    const overlap = Math.min(to, startSeconds + durationSeconds) - Math.max(from, startSeconds);
    return sum + Math.max(0, overlap);
  }, 0);
}

const toleranceSeconds = 0.01;
