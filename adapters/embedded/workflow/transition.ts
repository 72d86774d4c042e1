import { choose } from './choice.ts';
import type { Workflow } from './definition.ts';
import type { Json } from './json.ts';
import type { ExecutionEnding, Transition, Position, Progress } from './progress.ts';
import { ResultPathError } from './reference-path.ts';
import { type TaskFailure, decideRetry } from './retry.ts';
import type { State, TaskState } from './state-schemas.ts';
import { buildTaskInput, applyResultPath } from './task-data.ts';
import { wakeTime } from './wake-time.ts';

/** Interpreter of a workflow: pure functions that compute one step. Time and random numbers are parameters. */

/** Next action of an execution. */
export type Action =
  | { kind: 'wait'; until: Date }
  | { kind: 'run'; resource: string; payload: Json; timeoutSeconds: number | undefined }
  | { kind: 'move'; move: Transition };

export type TaskOutcome = { kind: 'result'; result: Json } | ({ kind: 'failure' } & TaskFailure);

/**
 * Maximum payload between states in Step Functions: 256 KiB of UTF-8. The engine enforces it, so that no job runs on one host
 * only.
 */
const maxDataBytes = 262_144;

/** Returns the position of a new execution. */
export function startExecution(workflow: Workflow, input: Json, now: Date): Transition {
  return enter(workflow, workflow.startAt, input, now);
}

/** Returns the next action at `position`. After a wait, call it again with `wakeAt` null. */
export function nextAction(workflow: Workflow, position: Position, now: Date): Action {
  if (position.wakeAt !== null) return { kind: 'wait', until: dueAt(position, position.wakeAt, now) };
  try {
    const state = stateNamed(workflow, position.state);
    if (state.Type !== 'Task') return { kind: 'move', move: pass(workflow, position, state, now) };
    return {
      kind: 'run',
      resource: state.Resource,
      payload: buildTaskInput(state, position.data),
      timeoutSeconds: state.TimeoutSeconds,
    };
  } catch (error) {
    return { kind: 'move', move: stay(fail(position, runtimeFailure(error), now)) };
  }
}

/**
 * Returns a transition and those that follow it immediately: through states that neither wait nor run a task. They are functions of the data, so that an
 * execution that resumes from an earlier one takes them again.
 */
export function followTransition(
  workflow: Workflow,
  first: Transition,
  now: Date,
): [Transition, ...Transition[]] {
  const moves: [Transition, ...Transition[]] = [first];
  for (let { progress } = first; progress.status === 'running';) {
    const action = nextAction(workflow, progress, now);
    if (action.kind !== 'move') break;
    moves.push(action.move);
    progress = action.move.progress;
  }
  return moves;
}

/** Returns the transition that a task's result or failure causes. */
export function applyTaskOutcome(
  workflow: Workflow,
  position: Position,
  outcome: TaskOutcome,
  now: Date,
  random: () => number,
): Transition {
  try {
    const state = taskNamed(workflow, position.state);
    if (outcome.kind === 'failure') return handle(workflow, position, state, outcome, now, random);
    const output = applyResultPath(state.ResultPath, position.data, outcome.result);
    return goTo(workflow, position, state.Next, output, now);
  } catch (error) {
    if (!(error instanceof ResultPathError)) return stay(fail(position, runtimeFailure(error), now));
    const failure = { error: 'States.ResultPathMatchFailure', cause: error.message };
    return handle(workflow, position, taskNamed(workflow, position.state), failure, now, random);
  }
}

/** Returns the transition to an aborted execution. */
export function abortExecution(position: Position, cause: string, now: Date): Transition {
  const { state, data } = position;
  return stay({ status: 'aborted', state, data, error: null, cause, stoppedAt: now });
}

/** Returns the wake-up time. A clock that was set back during the wait must not extend the wait. */
function dueAt({ since }: Position, wakeAt: Date, now: Date): Date {
  const setBack = now < since;
  return setBack ? new Date(now.getTime() + wakeAt.getTime() - since.getTime()) : wakeAt;
}

/** Returns the transition through a state without a task. */
function pass(
  workflow: Workflow,
  position: Position,
  state: Exclude<State, TaskState>,
  now: Date,
): Transition {
  switch (state.Type) {
    case 'Wait':
      return enter(workflow, state.Next, position.data, now);
    case 'Choice':
      return enter(workflow, choose(state.Choices, state.Default, position.data), position.data, now);
    case 'Succeed':
    case 'Fail':
      return enter(workflow, position.state, position.data, now);
  }
}

function handle(
  workflow: Workflow,
  position: Position,
  state: TaskState,
  { error, cause }: TaskFailure,
  now: Date,
  random: () => number,
): Transition {
  const reaction = decideRetry({ error, cause }, state, position.attempts, random);
  switch (reaction.kind) {
    case 'retry': {
      const wakeAt = new Date(now.getTime() + reaction.delaySeconds * 1000);
      return stay({ ...position, attempts: reaction.attempts, since: now, wakeAt });
    }
    case 'catch': {
      const { ResultPath, Next } = reaction.catcher;
      const data = applyResultPath(ResultPath, position.data, { Error: error, Cause: cause });
      return goTo(workflow, position, Next, data, now);
    }
    case 'fail':
      return stay(fail(position, { error, cause }, now));
  }
}

function goTo(workflow: Workflow, from: Position, next: string, data: Json, now: Date): Transition {
  const dataText = JSON.stringify(data);
  const bytes = Buffer.byteLength(dataText);
  if (bytes <= maxDataBytes) return { ...enter(workflow, next, data, now), dataText };
  const cause = `The state's output has ${bytes} bytes, more than the ${maxDataBytes} that a workflow carries`;
  return stay(fail(from, { error: 'States.DataLimitExceeded', cause }, now));
}

function enter(workflow: Workflow, name: string, data: Json, now: Date): Transition {
  try {
    return { progress: arrival(name, stateNamed(workflow, name), data, now), entered: true };
  } catch (error) {
    return { progress: fail({ state: name, data }, runtimeFailure(error), now), entered: true };
  }
}

function arrival(name: string, state: State, data: Json, now: Date): Progress {
  switch (state.Type) {
    case 'Succeed':
      return succeed(name, data, now);
    case 'Fail':
      return fail({ state: name, data }, { error: state.Error ?? '', cause: state.Cause ?? '' }, now);
    case 'Task':
    case 'Choice':
    case 'Wait': {
      const wakeAt = state.Type === 'Wait' ? wakeTime(state, data) : null;
      return { status: 'running', state: name, data, attempts: [], since: now, wakeAt };
    }
  }
}

function stay(progress: Progress): Transition {
  return { progress, entered: false };
}

function succeed(state: string, data: Json, now: Date): ExecutionEnding {
  return { status: 'succeeded', state, data, error: null, cause: null, stoppedAt: now };
}

function fail(at: { state: string; data: Json }, failure: TaskFailure, now: Date): ExecutionEnding {
  const { state, data } = at;
  return { status: 'failed', state, data, error: failure.error, cause: failure.cause, stoppedAt: now };
}

/** `States.Runtime` of the States Language: no retrier or catcher handles it. */
function runtimeFailure(error: unknown): TaskFailure {
  return { error: 'States.Runtime', cause: error instanceof Error ? error.message : String(error) };
}

/** Throws if the state is missing: a stored position can name a state that a newer definition removed. */
function stateNamed({ states }: Workflow, name: string): State {
  const state = states.get(name);
  if (state === undefined) throw new Error(`The workflow has no state "${name}"`);
  return state;
}

function taskNamed(workflow: Workflow, name: string): TaskState {
  const state = stateNamed(workflow, name);
  if (state.Type !== 'Task') throw new Error(`The state "${name}" is not a task`);
  return state;
}
