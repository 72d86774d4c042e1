import type { Capture, CaptureRequest, Scan, ScannedFrame } from '../../core/records/capture.ts';
import type { ScanningCapturer } from '../../core/ports/stream-capturer.ts';
import { StreamEndedError, StreamFetchError } from '../../core/errors.ts';
import { rules } from '../../core/rules.ts';
import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';
import { framePictures, createScannedFrame } from '../media/scan/frame-pictures.ts';
import { sparseSeconds, longestDistance, minDistanceSeconds } from '../media/scan/measure-scan.ts';
import { frameSeconds } from './read-frames.ts';
import { decodeAllFrames, decodeReadFrames, type PlayedFrame } from './played-frames.ts';
import { fileAt, gapAfter, type Timeline, type TimelineFile } from './timeline.ts';

/** Frames that a recording capturer has passed, for captures that look back. Times in seconds of the timeline. */
type PassedFrames = ReturnType<typeof createPassedFrames>;

type PassedFrame = PlayedFrame & { isKeyFrame: boolean };

const { maxScanSeconds } = rules;

/** Creates the list of passed frames. It drops those that no scan can reach. */
function createPassedFrames() {
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

  /** Decodes what only an open recording can decode. */
  async function settle(): Promise<void> {
    for (const frame of passed) {
      const picture = await frame.read();
      frame.read = async () => picture;
    }
  }

  /** Returns the scan before a capture since a position; `null` for the first one. */
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

export type RecordingCapturerDeps = {
  timeline: Timeline;
  ffmpegPath: string;
  ffmpeg: FfmpegRunner;
  /** Virtual time; it never goes back. */
  now: () => Date;
};

/** Difference of the times of one frame: they are rounded. */
const sameSeconds = 0.008;
const clipTimeoutMs = 30_000;

/**
 * From this duration on, only the frames that are captured are decoded, in seconds: its preparation takes two
 * processes.
 */
const minLazySeconds = 300;

type OpenFile = {
  file: TimelineFile;
  frames: AsyncGenerator<PlayedFrame>;
  /** True if frames are decoded when they are captured. */
  isLazy: boolean;
  /** Index of the newest key frame that has been passed. */
  keyFrame: number;
  current?: PlayedFrame;
  next?: PlayedFrame;
};

/**
 * Creates a capturer that plays recordings as if they were live at the virtual time: a capture is the newest frame
 * before it, or the clip that ends there. Reads each recording once, forward. `close` ends ffmpeg. Throws
 * `StreamFetchError` in a gap and
 * `StreamEndedError` after the end.
 */
export function createRecordingCapturer(
  deps: RecordingCapturerDeps,
): ScanningCapturer & { close: () => Promise<void> } {
  const { timeline, ffmpegPath, ffmpeg, now } = deps;
  let open: OpenFile | undefined;
  const passed = createPassedFrames();
  let looksBack = false;
  return { probe: async (url) => ({ platform: 'hls', playbackUrl: url }), capture, close, ...framePictures };

  async function close(): Promise<void> {
    await open?.frames.return(undefined);
    open = undefined;
  }

  async function capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture> {
    const seconds = (now().getTime() - timeline.beginsAt.getTime()) / 1000;
    if (seconds >= timeline.durationSeconds) throw new StreamEndedError();
    const file = fileAt(timeline, seconds);
    if (!file) throw new StreamFetchError('There is no recording of this time.');
    looksBack ||= request.lookBack !== undefined;
    const offset = seconds - file.startSeconds;
    const recorded = await newestFrame(file, offset);
    const picture = await recorded?.read();
    if (!recorded || !picture)
      throw new StreamFetchError('No frame of the recording can be decoded at this time.');
    const shownSeconds = file.startSeconds + recorded.seconds;
    const scan = request.lookBack && (await passed.scan(request.lookBack.since, shownSeconds, timeline));
    const captured: Capture = {
      frame: picture.frame,
      thumbnail: picture.thumbnail,
      capturedAt: new Date(timeline.beginsAt.getTime() + shownSeconds * 1000),
      position: {
        segment: `${file.startSeconds}+${recorded.seconds}`,
        // A check that confirms another takes the frame of its time, however rare key frames are.
        segment_seconds: isSparse(file) ? frameSeconds : file.keyFrameSeconds,
        ...(scan && { scan: `${shownSeconds}` }),
      },
      ...(scan && { scan }),
    };
    if (request.mode === 'frames') return captured;
    return { ...captured, ...(await clipBefore(ffmpeg, file, offset, request, signal)) };
  }

  /** Decodes all frames of a file if one alone cannot be decoded, so that ffmpeg decides what is shown in its place. */
  async function newestFrame(file: TimelineFile, offset: number): Promise<PlayedFrame | undefined> {
    if (open && open.file !== file && looksBack) await passTo(file, open.file);
    if (open?.file !== file)
      await openFile(file, skipsFrames(file) && file.durationSeconds >= minLazySeconds);
    const newest = await moveTo(offset);
    if (!open?.isLazy) return newest;
    const picture = await newest?.read();
    if (newest && picture) return { ...newest, read: async () => picture };
    await openFile(file, false);
    return moveTo(offset);
  }

  /** Plays what a scan may need of the recordings before this one. */
  async function passTo(file: TimelineFile, from: TimelineFile): Promise<void> {
    const { files } = timeline;
    for (const each of files.slice(files.indexOf(from), files.indexOf(file))) {
      if (each.startSeconds + each.durationSeconds < file.startSeconds - rules.maxScanSeconds) continue;
      if (open?.file !== each) await openFile(each, false);
      await moveTo(Infinity);
      await passed.settle();
    }
  }

  async function openFile(file: TimelineFile, isLazy: boolean): Promise<void> {
    await close();
    const frames = isLazy
      ? decodeReadFrames(ffmpegPath, file.path)
      : decodeAllFrames(ffmpegPath, file.path, { keyFramesOnly: skipsFrames(file) });
    open = {
      file,
      frames: isSparse(file) ? frames : firstAtEach(file.keyFrames, frames),
      isLazy,
      keyFrame: 0,
    };
  }

  async function moveTo(offset: number): Promise<PlayedFrame | undefined> {
    const reading = open;
    if (!reading) return undefined;
    while (reading.current === undefined || reading.next === undefined || reading.next.seconds <= offset) {
      const step = await reading.frames.next();
      if (reading.next) setCurrent(reading, reading.next);
      if (step.done) break;
      reading.next = step.value;
      if (reading.current === undefined) setCurrent(reading, step.value);
    }
    return reading.current;
  }

  function setCurrent(reading: OpenFile, frame: PlayedFrame): void {
    if (looksBack && frame !== reading.current) pass(passed, reading, frame);
    reading.current = frame;
  }
}

/** Scans of live streams see key frames, and frames between those that are far apart. */
function pass(passed: PassedFrames, reading: OpenFile, { seconds, read }: PlayedFrame): void {
  const isKeyFrame = reachesKeyFrame(reading, seconds);
  if (isKeyFrame || gapAfter(reading.file, reading.keyFrame) > sparseSeconds)
    passed.add({ seconds: reading.file.startSeconds + seconds, read, isKeyFrame });
}

/** The clip's frame is the evidence then: it shows the end of the clip, as in a live capture. */
async function clipBefore(
  ffmpeg: FfmpegRunner,
  file: TimelineFile,
  offset: number,
  { mode, clipSeconds }: CaptureRequest,
  signal: AbortSignal,
) {
  const fromSeconds = Math.max(0, offset - clipSeconds);
  const seconds = Math.min(clipSeconds, file.durationSeconds - fromSeconds);
  const input = { kind: 'file' as const, path: file.path, fromSeconds, seconds };
  return ffmpeg.run(input, { mode, clipSeconds: seconds }, { timeoutMs: clipTimeoutMs }, signal);
}

/** Returns true if scans of live streams decode frames between key frames of such a stream. */
function isSparse({ keyFrameSeconds }: TimelineFile): boolean {
  return keyFrameSeconds > sparseSeconds;
}

/** Returns true if key frames are played, and can be decoded without the frames between them. */
function skipsFrames(file: TimelineFile): boolean {
  return !isSparse(file) && !file.refersBack;
}

/** Yields the first of the frames at or after each of these times. */
async function* firstAtEach(
  times: readonly number[],
  frames: AsyncGenerator<PlayedFrame>,
): AsyncGenerator<PlayedFrame> {
  let next = 0;
  for await (const frame of frames) {
    const before = next;
    while ((times[next] ?? Infinity) <= frame.seconds + sameSeconds) next += 1;
    if (next > before) yield frame;
  }
}

/** Moves to the newest key frame at a time. Returns true if that is the frame of the time. */
function reachesKeyFrame(reading: OpenFile, seconds: number): boolean {
  const { keyFrames } = reading.file;
  while ((keyFrames[reading.keyFrame + 1] ?? Infinity) <= seconds + sameSeconds) reading.keyFrame += 1;
  return !isSparse(reading.file) || seconds - (keyFrames[reading.keyFrame] ?? 0) <= sameSeconds;
}
