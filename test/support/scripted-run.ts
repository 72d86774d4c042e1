import type { RunTasks } from '../../adapters/embedded/scheduler/tick-loop.ts';
import {
  type AnalyzeInput,
  analyzeInputSchema,
  captureInputSchema,
  type ExecutionInput,
  type WorkflowState,
} from '../../core/records/workflow.ts';
import { start } from '../contract/records.ts';

export function executionInput(number = 1, generation = 0): ExecutionInput {
  return { run_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, generation };
}

/**
 * Tasks of a scripted run: done after `ticks` ticks, one every ten seconds. A begin continues after the last analyzed
 * tick, as it does from the record.
 * @param before called before every call, with `begin`, `capture 1`, `analyze 1`, `close`; may throw or wait
 */
export function scriptedRun(
  ticks: number,
  before: (call: string, input: unknown, signal: AbortSignal) => unknown = () => {},
): RunTasks {
  const done = new Map<string, number>();
  return {
    async capture(input, signal) {
      const { tick } = captureInputSchema.parse(input);
      await before(`capture ${tick}`, input, signal);
      return { kind: 'not_captured', began_at: start.toISOString() };
    },
    async analyze(input, signal) {
      const request = analyzeInputSchema.parse(input);
      await before(toName(request), input, signal);
      if (request.operation === 'close') return { run_id: request.run_id, done: true };
      if (request.operation === 'analyze') done.set(request.run_id, request.capture.tick);
      const ticksDone = done.get(request.run_id) ?? 0;
      return step(request, ticksDone, ticksDone >= ticks);
    },
  };
}

function toName(request: AnalyzeInput): string {
  return request.operation === 'analyze' ? `analyze ${request.capture.tick}` : request.operation;
}

function step({ run_id, generation }: ExecutionInput, ticksDone: number, done: boolean): WorkflowState {
  return {
    run_id,
    generation,
    done,
    wait_until: new Date(start.getTime() + (ticksDone + 1) * 10_000).toISOString(),
    capture: {
      // Distinguishes captures of several runs.
      source_id: run_id,
      tick: ticksDone + 1,
      closing: false,
      resolve_again: false,
      seen: null,
      motion: ticksDone === 0 ? null : `motion after ${ticksDone}`,
    },
  };
}

/** Creates an error with a name, like those that tasks throw. */
export function errorNamed(name: string, message = `${name} happened`): Error {
  return Object.assign(new Error(message), { name });
}
