import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import type { InputMode, Region } from './capture.ts';

const timestampSchema = z.iso.datetime();

/** Time around the opening of an alert that its clip shows, in seconds. */
export const evidenceClipSchema = z.object({
  before_seconds: z.int().min(0).max(30),
  after_seconds: z.int().min(0).max(30),
});
apiNames.add(evidenceClipSchema, { id: 'EvidenceClip' });
export type EvidenceClip = z.infer<typeof evidenceClipSchema>;

export const maxClipBytes = 40_000_000;

/** Clip of an alert, or the reason for a missing one. */
export const alertClipSchema = z.object({
  /** Media key; `null` without a clip. */
  clip_key: z.string().nullable(),
  from: timestampSchema.nullable().describe('Time of its first picture'),
  to: timestampSchema.nullable().describe('Time of its end'),
  bytes: z.int().positive().nullable(),
  codec: z.string().nullable().describe('Sample entry of MP4, as avc1 or hvc1'),
  reason: z.string().nullable().describe('Why the alert has no clip; null if it has one'),
});
export type AlertClip = z.infer<typeof alertClipSchema>;

/** Returns what is stored of an alert that gets no clip. */
export function withoutClip(reason: string): AlertClip {
  return { clip_key: null, from: null, to: null, bytes: null, codec: null, reason };
}

/** Part of a stream to read as a clip. `openedAt` is in it. Excluded `regions` are black. */
export type ClipRequest = {
  url: string;
  caller: string;
  mode: InputMode;
  from: Date;
  to: Date;
  openedAt: Date;
  /** Time by which the clock of the stream was behind that of the times here, in seconds; default 0. */
  behindSeconds?: number | undefined;
  regions: readonly Region[] | null;
  /** Keeps the film: a faulty storage repeats the clip. */
  store: (film: Uint8Array) => Promise<void>;
  /** True to take what there is instead of `pending`. */
  isLast?: boolean;
};

/**
 * `pending`: the stream has not come to the end of the clip; what it has by now is kept. After `listedAfterSeconds`,
 * the stream lists all of the clip.
 */
export type ClipResult =
  | { kind: 'pending'; afterSeconds: number; listedAfterSeconds?: number }
  | { kind: 'none'; reason: string }
  | { kind: 'clip'; bytes: number; from: Date; to: Date; codec: string };

export type MakeClip = (
  request: Omit<ClipRequest, 'store' | 'isLast'> & { key: string },
  signal: AbortSignal,
) => Promise<ClipResult>;
