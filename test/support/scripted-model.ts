import {
  alwaysLoaded,
  anyCondition,
  type Called,
  type CheckMedia,
  type VisionModel,
} from '../../core/ports/vision-model.ts';
import type { ConditionVerdict, MomentVerdicts, Verdict } from '../../core/records/vision.ts';

/** Verdict on one condition in one frame. */
type JudgeEach = (media: CheckMedia, condition: string, signal: AbortSignal) => Promise<Verdict & Called>;

/**
 * Judges each condition of a call in each of its frames by a function; the call costs the tokens of its last verdict.
 */
export function judgingEach(judge: JudgeEach): VisionModel['judge'] {
  return async ({ earlier = [], ...newest }, questions, signal) => {
    let called: Pick<MomentVerdicts, 'tokens'> & Called = { tokens: { input_tokens: 0, output_tokens: 0 } };
    const moments: ConditionVerdict[][] = [];
    for (const media of [...earlier.map(({ frame }) => ({ mode: 'frames' as const, frame })), newest]) {
      const verdicts: ConditionVerdict[] = [];
      for (const { condition_id, condition } of questions) {
        const { tokens, calls, judged, ...verdict } = await judge(media, condition, signal);
        called = { tokens, ...(calls && { calls }) };
        verdicts.push({ condition_id, ...verdict, ...(judged === false && { triggered: null }) });
      }
      moments.push(verdicts);
    }
    return { moments, ...called };
  };
}

/** Creates a model of which a test gives what it needs. */
export function scriptedModel({
  capabilities,
  ...given
}: Partial<Omit<VisionModel, 'capabilities'>> & {
  capabilities?: Partial<VisionModel['capabilities']>;
} = {}): VisionModel {
  const unexpected = () => Promise.reject(new Error('The model was asked'));
  return {
    provider: 'scripted',
    model: 'scripted',
    capabilities: { ...anyCondition, ...capabilities },
    lifecycle: alwaysLoaded,
    judge: unexpected,
    answer: unexpected,
    words: unexpected,
    matches: unexpected,
    answerAbout: unexpected,
    summarize: unexpected,
    ...given,
  };
}

/** Changes each verdict of a model. */
export function changingEach(
  judge: VisionModel['judge'],
  change: Partial<ConditionVerdict>,
): VisionModel['judge'] {
  return async (...given) => {
    const { moments, ...called } = await judge(...given);
    return {
      moments: moments.map((verdicts) => verdicts.map((verdict) => ({ ...verdict, ...change }))),
      ...called,
    };
  };
}
