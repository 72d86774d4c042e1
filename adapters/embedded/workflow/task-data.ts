import type { Json } from './json.ts';
import { render } from './parameters.ts';
import { readPath, type ReferencePath, writePath } from './reference-path.ts';
import type { TaskState } from './state-schemas.ts';

/** What a task is given: the state's input through InputPath, then Parameters. Throws where a path finds nothing. */
export function buildTaskInput(state: TaskState, input: Json): Json {
  const chosen = select(state.InputPath, input);
  return state.Parameters === undefined ? chosen : render(state.Parameters, chosen);
}

/** What the next state is given: the result at ResultPath of the input, then OutputPath. Throws where a path finds nothing. */
export function buildStateOutput(state: TaskState, input: Json, result: Json): Json {
  return select(state.OutputPath, applyResultPath(state.ResultPath, input, result));
}

/** Puts `value` into `input` as ResultPath says: absent replaces the input, null drops the value. */
export function applyResultPath(path: ReferencePath | null | undefined, input: Json, value: Json): Json {
  if (path === null) return input;
  return path === undefined ? value : writePath(path, input, value);
}

function select(path: ReferencePath | null | undefined, document: Json): Json {
  if (path === null) return {};
  return path === undefined ? document : readPath(path, document);
}
