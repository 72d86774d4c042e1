import { createScannedFrame } from '../../adapters/media/scan/frame-pictures.ts';
import { StreamFetchError } from '../../core/errors.ts';
import { VisionError } from '../../core/vision-errors.ts';
import type { Capture, CaptureRequest } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import { rules } from '../../core/rules.ts';

/**
 * Thing that comes and goes: a visit that the condition is about, or another one that moves. Times in epoch
 * milliseconds.
 */
export type Visit = { from: number; to: number; share: number; isOther: boolean };

/** Key frames and segments of a stream, in milliseconds: 0 for a stream without segments, as RTSP. */
export type StreamKind = { keyFrameMs: number; segmentMs: number };

type Trouble = { kind: 'gone' | 'silent'; from: number; to: number };

/** Camera whose captures scan its key frames. Pictures list the things in them, as text. */
export class VisitedCamera {
  readonly visits: Visit[] = [];
  readonly troubles: Trouble[] = [];
  readonly kind: StreamKind;
  private readonly startMs: number;

  constructor(kind: StreamKind, startMs: number) {
    this.kind = kind;
    this.startMs = startMs;
  }

  /** Returns the newest key frame of the stream, that of HLS in its newest segment, with the scan of those before. */
  capture({ lookBack }: Pick<CaptureRequest, 'lookBack'>, nowMs: number): Capture {
    if (this.isIn('gone', nowMs)) throw new StreamFetchError('The camera does not respond.');
    const { keyFrameMs, segmentMs } = this.kind;
    const end = segmentMs === 0 ? nowMs + 1 : this.startMs + floor(nowMs - this.startMs, segmentMs);
    const newestMs = this.startMs + floor(end - 1 - this.startMs, keyFrameMs);
    const since = lookBack?.since ? Number(lookBack.since) : newestMs;
    const fromMs = Math.max(since, newestMs - rules.maxScanSeconds * 1000);
    const times: number[] = [];
    for (let at = newestMs - keyFrameMs; at > fromMs; at -= keyFrameMs) times.unshift(at);
    return {
      frame: this.picture(newestMs),
      thumbnail: this.picture(newestMs),
      capturedAt: new Date(newestMs),
      position: {
        segment: segmentMs === 0 ? null : String(end),
        segment_seconds: segmentMs / 1000,
        scan: String(newestMs),
      },
      scan: {
        frames: times.map((at) => createScannedFrame(at, this.picture(at), async () => this.picture(at))),
        coveredSeconds: (newestMs - fromMs) / 1000,
        leftOutSeconds: (fromMs - since) / 1000,
        distanceSeconds: times.length === 0 ? 0 : keyFrameMs / 1000,
        ...(lookBack?.since && since >= newestMs && { isSeen: true }),
      },
    };
  }

  /** Returns true if a visit is in the picture. Throws if the model is silent. */
  judge(frame: Uint8Array, nowMs: number): boolean {
    if (this.isIn('silent', nowMs)) throw new VisionError('The model does not answer.');
    return readThings(frame).some((index) => !this.visits[index]!.isOther);
  }

  /** Compares the things in pictures instead of their pixels. */
  readonly compare: CompareMotion = (thumbnail, state, _regions, earlier = []) => {
    const newest = readThings(thumbnail);
    const reference: number[] | null = state === null ? null : JSON.parse(state);
    let news = reference ?? [];
    return {
      ...this.differ(newest, reference),
      black: false,
      identicalToPrevious: false,
      stateWithNewReference: JSON.stringify(newest),
      stateWithSameReference: JSON.stringify(reference ?? newest),
      earlier: earlier.map(readThings).map((things) => {
        const isNews = String(things) !== String(news);
        if (isNews) news = things;
        const likeNewest = String(things) === String(newest);
        return { ...this.differ(things, reference), isNews, likeNewest, black: false };
      }),
    };
  };

  private differ(things: readonly number[], reference: readonly number[] | null) {
    if (reference === null) return { moved: true, changedShare: 1 };
    const changed = [...things, ...reference].filter(
      (index) => things.includes(index) !== reference.includes(index),
    );
    const share = changed.reduce((sum, index) => sum + this.visits[index]!.share, 0);
    return { moved: changed.length > 0, changedShare: Math.min(1, share) };
  }

  private picture(at: number): Uint8Array {
    const things = [...this.visits.keys()].filter((index) => {
      const { from, to } = this.visits[index]!;
      return from <= at && at < to;
    });
    return Buffer.from(JSON.stringify(things));
  }

  private isIn(kind: Trouble['kind'], at: number): boolean {
    return this.troubles.some((each) => each.kind === kind && each.from <= at && at < each.to);
  }
}

function readThings(bytes: Uint8Array): number[] {
  return JSON.parse(Buffer.from(bytes).toString());
}

function floor(ms: number, step: number): number {
  return Math.floor(ms / step) * step;
}
