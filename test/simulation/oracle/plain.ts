/** Configuration and ticks in the oracle's own words. */

export type PlainCondition = {
  id: string;
  text: string;
  toOpen: number;
  /** Seconds for which it must have held; absent: 0. */
  openAfter?: number;
  considered: number;
  toClose: number;
  closeAfter: number;
  cooldown: number;
  remind: number | null;
};

export type PlainSpan = { days: string[]; from: string; to: string };

export type PlainConfig = {
  createdAt: number;
  /** Offset of the checks on the grid of the interval, as real hosts have; absent for a grid from the creation on. */
  phase?: number | null;
  interval: number;
  confirm: number;
  prefilter: boolean;
  zone: string;
  schedule: PlainSpan[] | null;
  callsPerDay: number | null;
  conditions: PlainCondition[];
};

type Segment = { segmentSince: number; segmentSeconds: number };

export type PlainTick =
  /** Nothing was captured, or a change has made invalid what was seen: then `calls` are counted. */
  | { kind: 'none'; calls?: number }
  | { kind: 'unavailable' | 'failed' | 'refused' | 'ended' }
  | ({ kind: 'stale' | 'repeated' | 'no_motion' | 'black' } & Segment)
  | ({ kind: 'frozen'; identicalSince: number } & Segment)
  | ({ kind: 'not_asked' } & Segment)
  | ({
      kind: 'judged';
      answers: Record<string, boolean | 'failed' | 'left_out' | 'unsure' | undefined>;
      /** Conditions that were asked about in a call of their own. */
      alone: string[];
      calls: number;
      /** True if the model gave a verdict of any condition, also of one that changed meanwhile. */
      hasVerdict: boolean;
      /** A model call failed. */
      failed: boolean;
    } & Segment);

export const lossReasons: Partial<Record<PlainTick['kind'], string>> = {
  failed: 'unreachable',
  refused: 'access_refused',
  ended: 'not_live',
  stale: 'stale',
  frozen: 'frozen',
  black: 'black',
};

export const isClear = (tick: PlainTick, id: string): boolean =>
  tick.kind === 'judged' && tick.answers[id] === false;

export const wholeSecond = (at: number): number => Math.ceil(at / 1000) * 1000;

/** Time in which the service was late is not the stream's, nor the model's. */
export function excludeLateness(since: number, lateMs: number, now: number): number {
  return lateMs > 120_000 ? now : Math.min(now, since + Math.max(0, lateMs - 50_000));
}
