import { StreamEndedError, StreamFetchError, StreamPausedError, VisionError } from '../../core/errors.ts';
import type { Capture } from '../../core/records/capture.ts';
import type { CompareMotion } from '../../core/records/motion.ts';
import type { ConditionQuestion, ConditionVerdicts } from '../../core/records/vision.ts';
import type { Random } from './random.ts';
import { Surroundings } from './surroundings.ts';
import type { Mode } from './surroundings.ts';

/** Picture in a frame, as text: the scene changes with `scene`, the noise of the camera with `noise`. */
export type Picture = { scene: number; noise: number; black: boolean };

const tokens = { input_tokens: 1000, output_tokens: 50 };

/** Random camera, the truth about its scene, and a model that is wrong, fails or answers nonsense. */
export class Camera extends Surroundings {
  private scene = 0;
  private noise = 0;
  calm = false;

  constructor(random: Random, now: number) {
    super(random, now, {
      works: 12 * 3_600_000,
      troubles: [60_000, 900_000, 5_400_000],
      holds: 3_600_000,
      holdsNot: 14_400_000,
      modelFails: 2_400_000,
    });
  }

  /** Returns the capture of a moment. Throws the errors of streams. */
  capture(now: number): Capture {
    const mode = this.modeAt(now);
    if (mode === 'failed') throw new StreamFetchError('The camera does not respond.');
    if (mode === 'refused') throw new StreamFetchError('Wrong password.', undefined, { accessRefused: true });
    if (mode === 'ended') throw new StreamEndedError();
    if (mode === 'unavailable') throw new StreamPausedError();
    if (mode !== 'frozen') this.noise += 1;
    if (mode !== 'frozen' && this.random.chance(0.4)) this.scene += 1;
    const at = mode === 'stale' ? this.mode.begin : now;
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
  judge(questions: readonly ConditionQuestion[], isJoint: boolean, now: number): ConditionVerdicts {
    if (this.modelFails(now)) throw new VisionError('The model does not answer.');
    const verdicts: ConditionVerdicts['verdicts'] = [];
    for (const { condition_id, condition } of questions) {
      if (isJoint && this.random.chance(this.leftOutShare)) {
        if (this.random.chance(0.5))
          verdicts.push({ condition_id: 'unknown', triggered: true, explanation: '?' });
        if (this.random.chance(0.5)) continue;
        verdicts.push({ condition_id, triggered: false, explanation: 'once' });
      }
      const isRight = this.random.chance(0.97);
      const triggered = this.random.chance(0.01) ? null : this.holds(condition, now) === isRight;
      verdicts.push({ condition_id, triggered, explanation: `${condition}: ${triggered}. `.repeat(12) });
    }
    return { verdicts, tokens };
  }

  override modelFails(now: number): boolean {
    return !this.calm && super.modelFails(now);
  }

  protected override modeAt(now: number): Mode {
    return this.calm ? 'ok' : super.modeAt(now);
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
