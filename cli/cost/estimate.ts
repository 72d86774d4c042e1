import { readFile } from 'node:fs/promises';
import { loadWorkflow } from '../../adapters/embedded/workflow/definition.ts';
import type { InputMode } from '../../core/capture.ts';
import { CommandError } from '../command-error.ts';
import { modelPrices, priceOfModel } from './list-prices.ts';
import { streamHour } from './stream-hour.ts';
import type { CostLine, Watching } from './stream-hour.ts';
import { transitionsPerTick } from './transitions-per-tick.ts';

export type CostQuestion = {
  intervalSeconds: number;
  mode: InputMode;
  clipSeconds: number;
  skippedShare: number;
  alertsPerHour: number;
  model: string;
};

/** Throws `CommandError` for a model without a known price, and for a clip of a model that takes no video. */
export async function estimate(question: CostQuestion): Promise<{ lines: CostLine[]; total: number }> {
  const model = priceOfModel(question.model);
  if (!model) {
    throw new CommandError(
      `There is no price for the model "${question.model}" here.`,
      `Known: ${Object.keys(modelPrices).join(', ')}. For others, read its tokens in a job's stats and its price at aws.amazon.com/bedrock/pricing.`,
    );
  }
  const lines = linesOf({ ...question, model, transitionsPerTick: await transitionsOfTheWorkflow() });
  return { lines, total: lines.reduce((sum, { dollars }) => sum + dollars, 0) };
}

function linesOf(watching: Watching): CostLine[] {
  try {
    return streamHour(watching);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(error.message, 'Use --mode frames, or a Nova model.');
    throw error;
  }
}

async function transitionsOfTheWorkflow(): Promise<number> {
  const text = await readFile(new URL('../../workflow/watch.asl.json', import.meta.url), 'utf8');
  const definition: unknown = JSON.parse(text);
  return transitionsPerTick(loadWorkflow(definition, ['CaptureFunctionArn', 'AnalyzeFunctionArn']));
}
