import type { Json } from './json.ts';
import { render } from './parameters.ts';
import { readPath, type ReferencePath, writePath } from './reference-path.ts';
import type { TaskState } from './state-schemas.ts';

/** Returns the task input: the state's input through InputPath, then Parameters. Throws if a path finds no value. */
export function buildTaskInput(state: TaskState, input: Json): Json {
  const chosen = select(state.InputPath, input);
  return state.Parameters === undefined ? chosen : render(state.Parameters, chosen);
}

/**
 * Returns the input of the next state: the result at ResultPath of the input, then OutputPath. Throws if a path finds no value.
 */
export function buildStateOutput(state: TaskState, input: Json, result: Json): Json {
  return select(state.OutputPath, applyResultPath(state.ResultPath, input, result));
}

/** Sets `value` in `input` at ResultPath: an absent path replaces the input, null drops the value. */
export function applyResultPath(path: ReferencePath | null | undefined, input: Json, value: Json): Json {
  if (path === null) return input;
  return path === undefined ? value : writePath(path, input, value);
}

function select(path: ReferencePath | null | undefined, document: Json): Json {
  if (path === null) return {};
  return path === undefined ? document : readPath(path, document);
}
