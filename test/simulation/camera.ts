import { StreamEndedError, StreamFetchError, StreamPausedError } from '../../core/errors.ts';
import { VisionError } from '../../core/vision-errors.ts';
import type { Capture } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { ConditionQuestion, ConditionVerdict, MomentVerdicts } from '../../core/records/vision.ts';
import type { Random } from './random.ts';

/** State of a stream: `expired` until its URL is resolved again, `still` without motion. */
export type Mode = 'ok' | 'expired' | 'still' | (typeof troubles)[number];
const troubles = ['failed', 'refused', 'ended', 'unavailable', 'stale', 'frozen', 'black'] as const;

/** Picture in a frame, as text: the scene changes with `scene`, the noise of the camera with `noise`. */
export type Picture = { scene: number; noise: number; black: boolean };

/** Behavior of a camera, its scene and its model. Durations are means, in milliseconds. */
export type Habits = {
  segmentSeconds: readonly number[];
  /** Shares of conditions that an answer about several leaves out. */
  leftOut: readonly number[];
  /** Share of wrong answers, and of answers without a verdict. */
  wrong: number;
  unsure: number;
  /** Share of captures with motion. */
  motion: number;
  /** Bounds of the time that a capture and a call of the model take. */
  captureMs: readonly [number, number];
  modelMs: readonly [number, number];
  works: number;
  troubles: readonly Mode[];
  troubleMs: readonly number[];
  /** Longest trouble of a mode, or of the model. */
  longestMs: (mode: Mode | 'model') => number;
  holds: number;
  holdsNot: number;
  modelFails: number;
};

/** Habits around a watch, which outlives every trouble. */
export const rough: Habits = {
  segmentSeconds: [0, 2, 6, 12],
  leftOut: [0, 0, 0.01, 0.3],
  wrong: 0.03,
  unsure: 0.01,
  motion: 0.4,
  captureMs: [100, 2000],
  modelMs: [200, 9000],
  works: 6 * 3_600_000,
  troubles,
  troubleMs: [30_000, 300_000, 1_500_000, 5_400_000],
  longestMs: () => Infinity,
  holds: 1_200_000,
  holdsNot: 3_600_000,
  modelFails: 2_400_000,
};

const tokens = { input_tokens: 1000, output_tokens: 50 };

/** Random camera, the truth about its scene, and a model that is wrong, fails or answers nonsense. */
export class Camera {
  readonly habits: Habits;
  calm = false;
  protected readonly random: Random;
  protected mode: { name: Mode; begin: number; until: number };
  private readonly segmentSeconds: number;
  private readonly leftOutShare: number;
  private model = { fails: false, until: 0 };
  private readonly truths = new Map<string, { holds: boolean; until: number }>();
  private scene = 0;
  private noise = 0;
  /** Begin of the expiry after which the URL was resolved again. */
  private resolvedFor = 0;

  constructor(random: Random, now: number, habits = rough) {
    this.random = random;
    this.habits = habits;
    this.segmentSeconds = random.pick(habits.segmentSeconds);
    this.leftOutShare = random.pick(habits.leftOut);
    this.mode = { name: 'ok', begin: now, until: now + Math.min(3_600_000, habits.works) };
  }

  /** Returns the capture of a moment. Throws the errors of streams. */
  capture(now: number, resolvesAgain: boolean): Capture {
    this.mode = this.calm ? { name: 'ok', begin: now, until: now } : this.modeAt(now);
    const { name: mode, begin } = this.mode;
    if (resolvesAgain) this.resolvedFor = begin;
    if (mode === 'expired' && this.resolvedFor !== begin) throw new StreamFetchError('The URL has expired.');
    if (mode === 'failed') throw new StreamFetchError('The camera does not respond.');
    if (mode === 'refused') throw new StreamFetchError('Wrong password.', undefined, { accessRefused: true });
    if (mode === 'ended') throw new StreamEndedError();
    if (mode === 'unavailable') throw new StreamPausedError();
    if (mode !== 'frozen') this.noise += 1;
    if (mode !== 'frozen' && mode !== 'still' && this.random.chance(this.habits.motion)) this.scene += 1;
    const at = mode === 'stale' ? begin : now;
    const segment = this.segmentSeconds === 0 ? null : String(Math.floor(at / (this.segmentSeconds * 1000)));
    const picture: Picture = { scene: this.scene, noise: this.noise, black: mode === 'black' };
    const bytes = Buffer.from(JSON.stringify(picture));
    return {
      frame: bytes,
      thumbnail: bytes,
      capturedAt: new Date(now),
      position: { segment, segment_seconds: this.segmentSeconds },
    };
  }

  /** Answers about conditions. Ids may be missing, doubled or unknown. Throws `VisionError`. */
  judge(
    questions: readonly ConditionQuestion[],
    now: number,
  ): Pick<MomentVerdicts, 'tokens'> & { verdicts: ConditionVerdict[] } {
    if (!this.calm && this.modelFails(now)) throw new VisionError('The model does not answer.');
    const verdicts: ConditionVerdict[] = [];
    for (const { condition_id, condition } of questions) {
      if (questions.length > 1 && this.random.chance(this.leftOutShare)) {
        if (this.random.chance(0.5))
          verdicts.push({ condition_id: 'unknown', triggered: true, explanation: '?' });
        if (this.random.chance(0.5)) continue;
        verdicts.push({ condition_id, triggered: false, explanation: 'once' });
      }
      const isRight = this.random.chance(1 - this.habits.wrong);
      const triggered = this.random.chance(this.habits.unsure)
        ? null
        : this.holds(condition, now) === isRight;
      verdicts.push({ condition_id, triggered, explanation: `${condition}: ${triggered}. `.repeat(12) });
    }
    return { verdicts, tokens };
  }

  protected holds(condition: string, now: number): boolean {
    const { holds, holdsNot } = this.habits;
    let truth = this.truths.get(condition) ?? {
      holds: false,
      until: now + this.duration(Math.min(7_200_000, holdsNot)),
    };
    while (truth.until <= now)
      truth = { holds: !truth.holds, until: truth.until + this.duration(truth.holds ? holdsNot : holds) };
    this.truths.set(condition, truth);
    return truth.holds;
  }

  protected modelFails(now: number): boolean {
    if (now >= this.model.until) {
      const { modelFails: meanMs } = this.habits;
      const fails = !this.model.fails && meanMs > 0 && this.random.chance(0.3);
      const ms = fails
        ? Math.min(this.duration(meanMs), this.habits.longestMs('model'))
        : this.duration(this.habits.works);
      this.model = { fails, until: now + ms };
    }
    return this.model.fails || this.random.chance(0.01);
  }

  protected modeAt(now: number): Camera['mode'] {
    if (now < this.mode.until) return this.mode;
    const name = this.mode.name === 'ok' ? this.random.pick(this.habits.troubles) : 'ok';
    const mean = name === 'ok' ? this.habits.works : this.random.pick(this.habits.troubleMs);
    return { name, begin: now, until: now + Math.min(this.duration(mean), this.habits.longestMs(name)) };
  }

  private duration(meanMs: number): number {
    return Math.ceil(-Math.log(1 - this.random.next()) * meanMs);
  }
}

/** Span of a script, in epoch milliseconds. */
export type Span = { mode: Mode | 'holds' | 'silent'; from: number; to: number };

/** Camera whose troubles, true conditions and failures of the model are written down beforehand. */
export class ScriptedCamera extends Camera {
  private readonly script: readonly Span[];

  constructor(random: Random, now: number, habits: Habits, script: readonly Span[]) {
    super(random, now, habits);
    this.script = script;
  }

  protected override holds(_condition: string, now: number): boolean {
    // A frozen picture shows what was there when it froze.
    return this.find(now, 'holds', this.mode.name === 'frozen' ? this.mode.begin : now) !== undefined;
  }

  protected override modelFails(now: number): boolean {
    return this.find(now, 'silent') !== undefined;
  }

  protected override modeAt(now: number): Camera['mode'] {
    const span = this.script.find(
      ({ mode, from, to }) => mode !== 'holds' && mode !== 'silent' && from <= now && now < to,
    );
    if (span === undefined) return { name: 'ok', begin: now, until: now };
    return { name: span.mode as Mode, begin: span.from, until: span.to };
  }

  private find(now: number, wanted: Span['mode'], at = now): Span | undefined {
    return this.script.find(({ mode, from, to }) => mode === wanted && from <= at && at < to);
  }
}

/** Compares pictures instead of pixels. */
export const comparePictures: CompareMotion = (thumbnail, state) => {
  const picture = readPicture(thumbnail);
  const before: { scene: number; noise: number } | null = state === null ? null : JSON.parse(state);
  const moved = before === null || before.scene !== picture.scene;
  const { scene, noise } = picture;
  return {
    moved,
    changedShare: moved ? 0.2 : 0,
    black: picture.black,
    identicalToPrevious: before?.noise === noise,
    stateWithNewReference: JSON.stringify({ scene, noise }),
    stateWithSameReference: JSON.stringify({ scene: before?.scene ?? scene, noise }),
    earlier: [],
  };
};

export function readPicture(bytes: Uint8Array): Picture {
  return JSON.parse(Buffer.from(bytes).toString());
}
