import { html } from 'hono/html';
import type { CheckMedia } from '../../core/ports/vision-model.ts';
import { exampleName } from '../../core/evaluation/labelled-set.ts';
import { inlineJpeg, page, type Html } from '../report/html.ts';
import type { Mistake, VariantResult } from './evaluate-variant.ts';
import { formatEstimate, variantName } from './print-results.ts';
import type { LabelledExample } from './read-set.ts';

const shownMistakes = 50;

/** Creates a page of the results with the images of the mistakes. */
export async function createEvaluationReport(
  set: string,
  results: readonly VariantResult[],
  examples: readonly LabelledExample[],
  readMedia: (example: LabelledExample) => Promise<CheckMedia>,
): Promise<string> {
  const byName = new Map(examples.map((example) => [exampleName(example), example]));
  const sections: Html[] = [];
  for (const result of results) {
    const figures: Html[] = [];
    for (const mistake of result.mistakes.slice(0, shownMistakes)) {
      const example = byName.get(mistake.example);
      if (example) figures.push(toFigure(mistake, (await readMedia(example)).frame));
    }
    sections.push(
      html`<h2>${variantName(result)}</h2>
        <p>
          ${result.mistakes.length} mistakes; unstable over repetitions:
          ${result.unstable.join(', ') || 'none'}.
        </p>
        <div class="pictures">${figures}</div>`,
    );
  }
  return page(
    'Evaluation',
    html`<h1>Evaluation of ${set}</h1>
      <p class="weak">${examples.length} examples. In brackets the 95 % interval.</p>
      <table>
        <tr>
          <th>Variant</th>
          <th>Precision</th>
          <th>Recall</th>
          <th>F1</th>
          <th>Not judged</th>
          <th>Unclear that triggered</th>
          <th>Cost</th>
          <th>p50</th>
          <th>p95</th>
        </tr>
        ${results.map(toRow)}
      </table>
      ${sections}`,
  );
}

function toRow(result: VariantResult): Html {
  const { score } = result;
  return html`<tr>
    <td>${variantName(result)}</td>
    <td>${formatEstimate(score.precision)}</td>
    <td>${formatEstimate(score.recall)}</td>
    <td>${formatEstimate(score.f1)}</td>
    <td>${score.not_judged}</td>
    <td>${score.unclear_triggered} of ${score.unclear}</td>
    <td>${result.usd === null ? 'unknown' : `$${result.usd.toFixed(4)}`}</td>
    <td>${result.p50_ms} ms</td>
    <td>${result.p95_ms} ms</td>
  </tr>`;
}

function toFigure({ example, condition, expected, explanation }: Mistake, frame: Uint8Array): Html {
  return html`<figure>
    ${inlineJpeg(frame, example)}
    <figcaption><b>${example}</b>: “${condition}” should be ${expected}. ${explanation}</figcaption>
  </figure>`;
}
