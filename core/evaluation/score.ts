/** Value with its 95 % interval; `null` if nothing was counted. */
export type Estimate = { value: number; low: number; high: number } | null;

/** Answers to one example: one per repetition, `null` where the model gave no verdict. */
export type ExampleAnswers = { expected: 'yes' | 'no' | 'unclear'; answers: (boolean | null)[] };

/** Score of a model over examples. An example counts by the majority of its answers; no verdict counts as `no`. */
export type Score = {
  examples: number;
  true_positives: number;
  false_positives: number;
  true_negatives: number;
  false_negatives: number;
  /** Examples without a right answer that triggered, of `unclear`. */
  unclear: number;
  unclear_triggered: number;
  /** Examples without any verdict. */
  not_judged: number;
  /** Examples whose repetitions differ. */
  unstable: number;
  precision: Estimate;
  recall: Estimate;
  f1: Estimate;
};

/** Quantile of the standard normal distribution for 95 %. */
const z95 = 1.959964;

export function score(all: readonly ExampleAnswers[]): Score {
  const count = (expected: ExampleAnswers['expected'], triggered: boolean) =>
    all.filter((example) => example.expected === expected && isTriggered(example) === triggered).length;
  const truePositives = count('yes', true);
  const falsePositives = count('no', true);
  const falseNegatives = count('yes', false);
  return {
    examples: all.length,
    true_positives: truePositives,
    false_positives: falsePositives,
    true_negatives: count('no', false),
    false_negatives: falseNegatives,
    unclear: all.filter(({ expected }) => expected === 'unclear').length,
    unclear_triggered: count('unclear', true),
    not_judged: all.filter(({ answers }) => answers.every((answer) => answer === null)).length,
    unstable: all.filter(isUnstable).length,
    precision: wilson(truePositives, truePositives + falsePositives),
    recall: wilson(truePositives, truePositives + falseNegatives),
    f1: f1Estimate(truePositives, falsePositives + falseNegatives),
  };
}

/** Returns the majority of the answers; a tie is no. */
export function isTriggered({ answers }: ExampleAnswers): boolean {
  return answers.filter((answer) => answer === true).length * 2 > answers.length;
}

/** Returns true if repetitions gave different answers. */
export function isUnstable({ answers }: ExampleAnswers): boolean {
  return new Set(answers).size > 1;
}

/**
 * Wilson's score interval of a share (https://doi.org/10.1080/01621459.1927.10502953), which also holds for few
 * examples.
 */
export function wilson(hits: number, total: number): Estimate {
  if (total === 0) return null;
  const share = hits / total;
  const square = z95 ** 2 / total;
  const center = (share + square / 2) / (1 + square);
  const margin = (z95 / (1 + square)) * Math.sqrt((share * (1 - share)) / total + square / (4 * total));
  return { value: share, low: Math.max(0, center - margin), high: Math.min(1, center + margin) };
}

/**
 * F1 = 2·TP / (2·TP + errors). With s = TP / (TP + errors) it is 2s / (1 + s), which grows with s, so the ends of the
 * interval of s are those of F1.
 */
function f1Estimate(truePositives: number, errors: number): Estimate {
  const share = wilson(truePositives, truePositives + errors);
  if (share === null) return null;
  return { value: toF1(share.value), low: toF1(share.low), high: toF1(share.high) };
}

function toF1(share: number): number {
  return (2 * share) / (1 + share);
}

/** Returns a percentile of numbers by the nearest rank, 0 without numbers. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
