import type { CaptureResult } from '../../../core/records/workflow.ts';
import type { PlainTick } from '../oracle/plain.ts';
import { Camera, rough } from '../camera.ts';
import type { Mode } from '../camera.ts';
import type { Random } from '../random.ts';

type Fresh = { kind: 'fresh'; segmentSince: number; segmentSeconds: number };

/** Random camera with a stream, a model and its conditions. */
export class Scene extends Camera {
  /** True if the last capture differs from the last one that the model judged. */
  moved = true;
  private last: { segment: number; since: number; identicalSince: number | null } | null = null;
  private frozenAt: number | null = null;
  private described: Exclude<PlainTick, { kind: 'none' | 'judged' | 'not_asked' }> | Fresh;

  constructor(random: Random, now: number) {
    super(random, now, {
      ...rough,
      works: 10 * 3_600_000,
      troubleMs: [20_000, 120_000, 1_500_000],
      holds: 900_000,
      holdsNot: 7_200_000,
      modelFails: 1_200_000,
    });
    this.described = { kind: 'failed' };
  }

  /** True if the stream did not work at the last capture. */
  get isTroubled(): boolean {
    return this.mode.name !== 'ok';
  }

  wasJudged(): void {
    this.moved = false;
  }

  /** The next execution has no earlier captures. */
  forget(): void {
    this.last = null;
    this.moved = true;
  }

  describe(_now: number) {
    return this.described;
  }

  screen(now: number): CaptureResult {
    this.mode = this.modeAt(now);
    const mode = this.mode.name;
    if (mode === 'failed' || mode === 'refused') {
      this.described = { kind: mode };
      const access_refused = mode === 'refused';
      return {
        kind: 'failed',
        code: 'STREAM_FETCH_FAILED',
        message: 'gone',
        remediation: '',
        access_refused,
      };
    }
    if (mode === 'ended' || mode === 'unavailable') {
      this.described = { kind: mode };
      return { kind: mode, message: mode };
    }
    return this.picture(mode, now);
  }

  private picture(mode: Mode, now: number): CaptureResult {
    const { segmentSeconds } = this;
    const at = mode === 'stale' ? this.mode.begin : now;
    const segment = segmentSeconds === 0 ? now : Math.floor(at / (segmentSeconds * 1000));
    const repeated = segmentSeconds > 0 && this.last?.segment === segment;
    const since = repeated ? this.last!.since : now;
    if (mode !== 'frozen') this.frozenAt = null;
    const isFirstFrozen = mode === 'frozen' && this.frozenAt === null;
    if (isFirstFrozen) this.frozenAt = now;
    const identicalSince = mode === 'frozen' && !isFirstFrozen && this.last ? this.frozenAt : null;
    this.last = { segment, since, identicalSince };
    if (this.random.chance(0.3) && identicalSince === null) this.moved = true;
    const black = mode === 'black';
    const shared = { segmentSince: since, segmentSeconds };
    if (repeated && now - since > Math.max(6, 3 * segmentSeconds) * 1000)
      this.described = { kind: 'stale', ...shared };
    else if (black) this.described = { kind: 'black', ...shared };
    else if (identicalSince !== null && now - identicalSince >= 30_000)
      this.described = { kind: 'frozen', identicalSince, ...shared };
    else if (repeated) this.described = { kind: 'repeated', ...shared };
    else this.described = { kind: 'fresh', ...shared };
    const iso = (time: number) => new Date(time).toISOString();
    return {
      kind: 'captured',
      frame_key: 'captures/frame.jpg',
      clip_key: null,
      captured_at: iso(now),
      seen: {
        position: {
          segment: segmentSeconds === 0 ? null : String(segment),
          segment_seconds: segmentSeconds,
        },
        since: iso(since),
        identical_since: identicalSince === null ? null : iso(identicalSince),
        seen_at: iso(now),
      },
      repeated,
      moved: this.moved,
      changed_share: 0.1,
      black,
      motion_if_judged: '',
      motion_if_skipped: '',
    };
  }
}
