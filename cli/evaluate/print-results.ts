import type { Estimate } from '../../core/evaluation/score.ts';
import type { InputMode } from '../../core/records/capture.ts';
import { oneLine, type Terminal } from '../terminal.ts';
import type { VariantResult } from './evaluate-variant.ts';
import type { LabelledExample } from './read-set.ts';

const shownMistakes = 5;

/** Returns how many examples have each label, and what they cannot measure. */
export function describeLabels(examples: readonly LabelledExample[], modes: readonly InputMode[]): string[] {
  const [yes, no, unclear] = (['yes', 'no', 'unclear'] as const).map(
    (label) => examples.filter(({ expected }) => expected === label).length,
  );
  const pictures = examples.filter((example) => 'picture' in example).length;
  const withClip = modes.filter((mode) => mode !== 'frames');
  return [
    `${examples.length} examples: ${yes} yes, ${no} no, ${unclear} unclear (counted apart).`,
    ...(no === 0
      ? [
          'No example is labelled no: false alarms are not measured. Add frames in which the condition does not hold.',
        ]
      : []),
    ...(yes === 0
      ? ['No example is labelled yes: recall is not measured. Add frames in which the condition holds.']
      : []),
    ...(pictures > 0 && withClip.length > 0
      ? [
          `${pictures} examples are pictures without a clip: in mode ${withClip.join(' and ')} the model gets the frame only.`,
        ]
      : []),
  ];
}

/** Prints a table of the variants, and the first mistakes of each. */
export function printResults(results: readonly VariantResult[], terminal: Terminal): void {
  const rows = results.map((result) => [
    variantName(result),
    formatEstimate(result.score.precision),
    formatEstimate(result.score.recall),
    formatEstimate(result.score.f1),
    String(result.unstable.length),
    `${result.failed_calls}/${result.calls}`,
    result.usd === null ? 'unknown' : `$${result.usd.toFixed(4)}`,
    String(result.p50_ms),
    String(result.p95_ms),
  ]);
  const heads = ['variant', 'precision', 'recall', 'F1', 'unstable', 'failed', 'cost', 'p50 ms', 'p95 ms'];
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [heads, ...rows])
    terminal.print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  for (const result of results) printMistakes(result, terminal);
}

function printMistakes(result: VariantResult, terminal: Terminal): void {
  if (result.mistakes.length === 0) return;
  terminal.print(`\nMistakes of ${variantName(result)}:`);
  for (const { example, condition, expected, explanation } of result.mistakes.slice(0, shownMistakes))
    terminal.print(`  ${oneLine(`${example}: "${condition}" should be ${expected}. ${explanation}`)}`);
  const more = result.mistakes.length - shownMistakes;
  if (more > 0) terminal.print(`  and ${more} more; --report FILE shows them with their pictures`);
}

export function variantName({ model, mode, width, prompt }: VariantResult): string {
  return `${model} ${mode}${width === null ? '' : ` ${width}px`}${prompt === null ? '' : ` ${prompt}`}`;
}

/** Formats a share with its 95 % interval, in percent. */
export function formatEstimate(estimate: Estimate): string {
  if (estimate === null) return 'none';
  return `${percent(estimate.value)} % (${percent(estimate.low)}-${percent(estimate.high)})`;
}

function percent(share: number): string {
  return (share * 100).toFixed(0);
}
