import { readFile } from 'node:fs/promises';
import { loadWorkflow } from '../../adapters/embedded/workflow/definition.ts';
import type { InputMode } from '../../core/records/capture.ts';
import { CommandError } from '../command-error.ts';
import { modelPrices, priceOfModel } from './list-prices.ts';
import { priceStreamHour } from './stream-hour.ts';
import type { CostLine, StreamHourInput } from './stream-hour.ts';
import { transitionsPerTick } from './transitions-per-tick.ts';

/** Inputs of the cost estimate; `skippedShare` is 0 to 1. */
export type CostQuestion = {
  intervalSeconds: number;
  mode: InputMode;
  clipSeconds: number;
  skippedShare: number;
  alertsPerHour: number;
  model: string;
};

/** Estimates the cost of a stream-hour in USD. Throws `CommandError` for a model without a known price or video support. */
export async function estimate(question: CostQuestion): Promise<{ lines: CostLine[]; total: number }> {
  const model = priceOfModel(question.model);
  if (!model) {
    throw new CommandError(
      `No price is known for the model "${question.model}"`,
      `Use one of ${Object.keys(modelPrices).join(', ')}. For others, multiply the tokens in a job's stats by the price at aws.amazon.com/bedrock/pricing.`,
    );
  }
  const lines = streamHourLines({ ...question, model, transitionsPerTick: await readTransitionsPerTick() });
  return { lines, total: lines.reduce((sum, { dollars }) => sum + dollars, 0) };
}

function streamHourLines(watching: StreamHourInput): CostLine[] {
  try {
    return priceStreamHour(watching);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(error.message, 'Use --mode frames or a Nova model.');
    throw error;
  }
}

async function readTransitionsPerTick(): Promise<number> {
  const text = await readFile(new URL('../../workflow/watch.asl.json', import.meta.url), 'utf8');
  const definition: unknown = JSON.parse(text);
  return transitionsPerTick(loadWorkflow(definition, ['CaptureFunctionArn', 'AnalyzeFunctionArn']));
}
