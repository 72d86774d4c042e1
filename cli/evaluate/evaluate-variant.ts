import { VisionError } from '../../core/vision-errors.ts';
import { judgeCondition, type VisionModel, type CheckMedia } from '../../core/ports/vision-model.ts';
import type { InputMode } from '../../core/records/capture.ts';
import { exampleName } from '../../core/evaluation/labelled-set.ts';
import {
  type ExampleAnswers,
  isTriggered,
  isUnstable,
  percentile,
  score,
  type Score,
} from '../../core/evaluation/score.ts';
import { mapConcurrently } from '../../adapters/vision/map-concurrently.ts';
import { priceTokens } from './model-choice.ts';
import type { LabelledExample } from './read-set.ts';

/**
 * Combination of settings that is evaluated. `width` is `null` for frames as they are, `prompt` for that of the
 * settings.
 */
export type Variant = { model: string; mode: InputMode; width: number | null; prompt: string | null };

/** Example that the model answered wrongly, with its answers and the first explanation. */
export type Mistake = {
  example: string;
  condition: string;
  expected: 'yes' | 'no';
  answers: (boolean | null)[];
  explanation: string;
};

export type VariantResult = Variant & {
  score: Score;
  /** Calls that failed, of all calls. */
  calls: number;
  failed_calls: number;
  /** Reason of the first failed call with its next step; absent if none failed. */
  failure?: string;
  tokens: { input_tokens: number; output_tokens: number };
  /** Cost of all calls in USD by list prices; `null` if the price is not known. */
  usd: number | null;
  /** Durations of the calls, in milliseconds. */
  p50_ms: number;
  p95_ms: number;
  unstable: string[];
  mistakes: Mistake[];
};

export type EvaluateDeps = {
  vision: VisionModel;
  readMedia: (example: LabelledExample) => Promise<CheckMedia>;
  elapsedMs: () => number;
  onProgress: () => void;
};

type Answer = {
  triggered: boolean | null;
  explanation: string;
  tokens: VariantResult['tokens'];
  hasFailed: boolean;
  ms: number;
};

const timeoutMs = 180_000;

/** Calls the model `repeat` times for each example. A failed call is no verdict. */
export async function evaluateVariant(
  variant: Variant,
  examples: readonly LabelledExample[],
  { repeat, atOnce }: { repeat: number; atOnce: number },
  deps: EvaluateDeps,
  signal: AbortSignal,
): Promise<VariantResult> {
  const answered = await mapConcurrently(examples, atOnce, async (example) => {
    const media = await deps.readMedia(example);
    const answers: Answer[] = [];
    for (let count = 0; count < repeat; count += 1) {
      answers.push(await ask(media, example.condition, deps, signal));
      deps.onProgress();
    }
    return {
      example,
      expected: example.expected,
      all: answers,
      answers: answers.map(({ triggered }) => triggered),
    };
  });
  const calls = answered.flatMap(({ all }) => all);
  const tokens = {
    input_tokens: sum(calls.map((call) => call.tokens.input_tokens)),
    output_tokens: sum(calls.map((call) => call.tokens.output_tokens)),
  };
  const times = calls.map(({ ms }) => ms);
  const failure = calls.find(({ hasFailed }) => hasFailed)?.explanation;
  return {
    ...variant,
    score: score(answered),
    calls: calls.length,
    failed_calls: calls.filter(({ hasFailed }) => hasFailed).length,
    ...(failure !== undefined && { failure }),
    tokens,
    usd: priceTokens(deps.vision, tokens),
    p50_ms: Math.round(percentile(times, 0.5)),
    p95_ms: Math.round(percentile(times, 0.95)),
    unstable: answered.filter(isUnstable).map(({ example }) => exampleName(example)),
    mistakes: answered.flatMap(listMistakes),
  };
}

type Answered = ExampleAnswers & { example: LabelledExample; all: Answer[] };

function listMistakes({ example, expected, all, answers }: Answered): Mistake[] {
  if (expected === 'unclear' || isTriggered({ expected, answers }) === (expected === 'yes')) return [];
  const explanation = all[0]?.explanation ?? '';
  return [{ example: exampleName(example), condition: example.condition, expected, answers, explanation }];
}

async function ask(
  media: CheckMedia,
  condition: string,
  { vision, elapsedMs }: EvaluateDeps,
  signal: AbortSignal,
): Promise<Answer> {
  const startedMs = elapsedMs();
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const { triggered, judged, explanation, tokens } = await judgeCondition(
      vision,
      media,
      { condition },
      limit,
    );
    return {
      triggered: judged === false ? null : triggered,
      explanation,
      tokens,
      hasFailed: false,
      ms: elapsedMs() - startedMs,
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof VisionError)) throw error;
    const tokens = { input_tokens: 0, output_tokens: 0 };
    return {
      triggered: null,
      explanation: `${error.message}. ${error.remediation}`,
      tokens,
      hasFailed: true,
      ms: elapsedMs() - startedMs,
    };
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
