import type { TaskFunction } from '../../../../adapters/embedded/workflow/task-attempt.ts';
import {
  type AnalyzeInput,
  analyzeInputSchema,
  captureInputSchema,
  type ExecutionInput,
  type WorkflowState,
} from '../../../../core/records/workflow.ts';
import watch from '../../../../workflow/watch.asl.json' with { type: 'json' };
import { startOfTest } from './fake-clock.ts';

export { watch };

export function executionInput(number = 1, generation = 0): ExecutionInput {
  return { job_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, generation };
}

/** Returns the states that a job of `ticks` ticks enters. */
export function listStates(ticks: number): string[] {
  const tick = ['Pause', 'Capture', 'Analyze', 'Done?'];
  return ['Begin', 'Done?', ...Array.from({ length: ticks }, () => tick).flat(), 'Finished'];
}

export type ScriptedJob = Record<'CaptureFunctionArn' | 'AnalyzeFunctionArn', TaskFunction>;

/**
 * Task functions of a scripted job: done after `ticks` ticks, one every ten seconds.
 * @param before called before every call, with `begin`, `capture 1`, `analyze 1`, `close`; may throw or wait
 */
export function scriptedJob(
  ticks: number,
  before: (call: string, signal: AbortSignal, input: unknown) => unknown = () => {},
  startedAt = startOfTest,
): ScriptedJob {
  return {
    async CaptureFunctionArn(input, signal) {
      const { tick } = captureInputSchema.parse(input);
      await before(`capture ${tick}`, signal, input);
      return { kind: 'not_captured' };
    },
    async AnalyzeFunctionArn(input, signal) {
      const request = analyzeInputSchema.parse(input);
      await before(toName(request), signal, input);
      if (request.operation === 'close') return { closed: true };
      const ticksDone = request.operation === 'begin' ? 0 : request.capture.tick;
      return step(request, ticksDone, ticksDone >= ticks, startedAt);
    },
  };
}

function toName(request: AnalyzeInput): string {
  return request.operation === 'analyze' ? `analyze ${request.capture.tick}` : request.operation;
}

function step(
  { job_id, generation }: ExecutionInput,
  ticksDone: number,
  done: boolean,
  startedAt: Date,
): WorkflowState {
  return {
    job_id,
    generation,
    done,
    wait_until: new Date(startedAt.getTime() + (ticksDone + 1) * 10_000).toISOString(),
    capture: {
      // Distinguishes captures of several jobs.
      source_id: job_id,
      tick: ticksDone + 1,
      closing: false,
      resolve_again: false,
      seen: null,
      motion: `motion after ${ticksDone}`,
    },
  };
}

/** Creates an error with a name, like those that task functions throw. */
export function errorNamed(name: string, message = `${name} happened`): Error {
  return Object.assign(new Error(message), { name });
}
