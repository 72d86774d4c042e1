import type { Json } from './json.ts';
import { render } from './parameters.ts';
import { readPath, type ReferencePath, writePath } from './reference-path.ts';
import type { TaskState } from './state-schemas.ts';

/** Returns the task input: the state's input through InputPath, then Parameters. Throws if a path finds no value. */
export function buildTaskInput(state: TaskState, input: Json): Json {
  const chosen = state.InputPath === undefined ? input : readPath(state.InputPath, input);
  return state.Parameters === undefined ? chosen : render(state.Parameters, chosen);
}

/** Sets `value` in `input` at ResultPath; an absent path replaces the input. Throws `ResultPathError`. */
export function applyResultPath(path: ReferencePath | undefined, input: Json, value: Json): Json {
  return path === undefined ? value : writePath(path, input, value);
}
