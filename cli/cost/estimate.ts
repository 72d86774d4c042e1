import { readFile } from 'node:fs/promises';
import { rules } from '../../core/rules.ts';
import { CommandError } from '../command-error.ts';
import { modelPrices, priceOfModel } from '../../adapters/vision/bedrock/models.ts';
import { priceStreamHour, type CostLine, type StreamHourInput, type Workflow } from './stream-hour.ts';
import { z } from 'zod';

/** States of a definition, as far as their order is concerned. */
const definitionSchema = z.object({
  StartAt: z.string(),
  States: z.record(
    z.string(),
    z.object({ Type: z.string(), Next: z.string().optional(), Default: z.string().optional() }),
  ),
});

/**
 * Counts the state transitions of the loop of a definition without failures and rests: the states that `Next` and
 * `Default` lead to. AWS bills each transition of a Standard workflow. Throws if the definition has no loop.
 */
export function transitionsPerLoop(definition: unknown): number {
  const { StartAt: startAt, States: states } = definitionSchema.parse(definition);
  const entered = new Map<string, number>();
  let name: string | undefined = startAt;
  for (let step = 0; name !== undefined; step += 1) {
    const before = entered.get(name);
    if (before !== undefined) return step - before;
    entered.set(name, step);
    const state: z.output<typeof definitionSchema>['States'][string] | undefined = states[name];
    name = state?.Next ?? state?.Default;
  }
  throw new Error('The definition has no loop');
}

/** Transitions of an execution outside of its loop: before it, and its final state. */
export function transitionsPerExecution(definition: unknown): number {
  const { StartAt: startAt, States: states } = definitionSchema.parse(definition);
  const entered = new Set<string>();
  let name: string | undefined = startAt;
  while (name !== undefined && !entered.has(name)) {
    entered.add(name);
    const state: z.output<typeof definitionSchema>['States'][string] | undefined = states[name];
    name = state?.Next ?? state?.Default;
  }
  return entered.size - transitionsPerLoop(definition) + 1;
}

type Optional = 'source' | 'readers' | 'pollsPerHour' | 'streamOrigin';

/** Inputs of the cost estimate; `skippedShare` is 0 to 1. */
export type CostQuestion = Omit<StreamHourInput, Optional | 'model' | 'workflow'> &
  Partial<Pick<StreamHourInput, Optional>> & {
    model: string;
    /** Length of a burst in seconds (`burstSeconds` of the stage); 0 for Standard executions alone. */
    burstSeconds?: number;
  };

/**
 * Estimates the cost of a stream-hour in USD. Throws `CommandError` for a model without a known price or video support.
 */
export async function estimate(question: CostQuestion): Promise<{ lines: CostLine[]; total: number }> {
  const model = priceOfModel(question.model);
  if (!model) {
    throw new CommandError(
      `No price is known for the model "${question.model}"`,
      `Use one of ${Object.keys(modelPrices).join(', ')}. For others, multiply the tokens in a job's stats by the price at aws.amazon.com/bedrock/pricing.`,
    );
  }
  const workflow = await readWorkflow(question.burstSeconds ?? rules.maxBurstSeconds);
  const defaults = { source: 'hls', readers: 0, pollsPerHour: 0, streamOrigin: 'function-url' } as const;
  const lines = streamHourLines({ ...defaults, ...question, model, workflow });
  return { lines, total: lines.reduce((sum, { dollars }) => sum + dollars, 0) };
}

function streamHourLines(input: StreamHourInput): CostLine[] {
  try {
    return priceStreamHour(input);
  } catch (error) {
    if (error instanceof RangeError)
      throw new CommandError(error.message, 'Use --mode frames or a Nova model.');
    throw error;
  }
}

/** Reads the transitions from the definitions that run with this length of a burst. */
async function readWorkflow(burstSeconds: number): Promise<Workflow> {
  const definition = await readDefinition(burstSeconds > 0 ? 'bursts' : 'run');
  return {
    burstSeconds,
    transitionsPerLoop: transitionsPerLoop(definition),
    transitionsPerExecution: transitionsPerExecution(definition),
  };
}

async function readDefinition(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`../../lib/workflow/${name}.asl.json`, import.meta.url), 'utf8'));
}
