import { DatabaseSync } from 'node:sqlite';
import { createWorkflowEngine, type WorkflowEngine } from '../../../../adapters/embedded/workflow/engine.ts';
import type { TransitionEvent } from '../../../../adapters/embedded/workflow/execution-run.ts';
import {
  createExecutionStore,
  type ExecutionStore,
  migrateExecutions,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import type { TaskFunction } from '../../../../adapters/embedded/workflow/task-attempt.ts';
import type { Log } from '../../../../core/ports/log.ts';
import { FakeClock } from './fake-clock.ts';
import { scriptedJob, watch } from './scripted-job.ts';

export type TestEngine = {
  engine: WorkflowEngine;
  clock: FakeClock;
  store: ExecutionStore;
  transitions: TransitionEvent[];
  states: () => string[];
  errors: string[];
};

/** Creates an engine on a fake clock; its default store is a new database in memory. */
export function testEngine({
  resources = scriptedJob(1),
  definition = watch,
  store = openStore(),
  clock = new FakeClock(),
  random = () => 0.5,
}: {
  resources?: Record<string, TaskFunction>;
  definition?: unknown;
  store?: ExecutionStore;
  clock?: FakeClock;
  random?: () => number;
} = {}): TestEngine {
  const transitions: TransitionEvent[] = [];
  const errors: string[] = [];
  const engine = createWorkflowEngine({
    definition,
    resources,
    store,
    clock,
    random,
    log: logInto(errors),
    onTransition: (event) => transitions.push(event),
  });
  return { engine, clock, store, transitions, states: () => transitions.map(({ state }) => state), errors };
}

export function openStore(file = ':memory:'): ExecutionStore {
  const database = new DatabaseSync(file);
  migrateExecutions(database);
  return createExecutionStore(database);
}

function logInto(errors: string[]): Log {
  return { debug() {}, info() {}, warning() {}, error: (message) => void errors.push(message) };
}
