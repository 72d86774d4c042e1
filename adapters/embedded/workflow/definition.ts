import type { z } from 'zod';
import { WorkflowDefinitionError } from './definition-error.ts';
import { definitionSchema, type State } from './state-schemas.ts';

export type Workflow = { startAt: string; states: ReadonlyMap<string, State> };

/**
 * Parses a definition in the Amazon States Language, such as the JSON of `workflow/watch.asl.json`.
 * @param resources names that `${…}` can stand for in `Resource`
 * @throws WorkflowDefinitionError for unsupported constructs and for references to missing states or resources
 */
export function loadWorkflow(definition: unknown, resources: Iterable<string>): Workflow {
  const parsed = definitionSchema.safeParse(definition);
  if (!parsed.success) throw new WorkflowDefinitionError(parsed.error.issues.map(describe));
  const workflow = { startAt: parsed.data.StartAt, states: new Map(Object.entries(parsed.data.States)) };
  const problems = [
    ...unresolvedResources(workflow, new Set(resources)),
    ...danglingNames(workflow),
    ...unreachableStates(workflow),
  ];
  if (problems.length > 0) throw new WorkflowDefinitionError(problems);
  return workflow;
}

/** Formats an issue: `State "Capture", Retry[0].IntervalSeconds: Too small: expected number to be >0`. */
function describe(issue: z.core.$ZodIssue): string {
  const [first, name, ...inside] = issue.path;
  const state = first === 'States' && name !== undefined ? `State "${String(name)}"` : undefined;
  const field = (state === undefined ? issue.path : inside).reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text && '.'}${String(key)}`),
    '',
  );
  const place = [state, field].filter(Boolean).join(', ') || 'The definition';
  return `${place}: ${issue.message}`;
}

function* unresolvedResources({ states }: Workflow, resources: ReadonlySet<string>): Iterable<string> {
  for (const [name, state] of states) {
    if (state.Type === 'Task' && !resources.has(state.Resource)) {
      yield `State "${name}", Resource: nothing is given for \${${state.Resource}}`;
    }
  }
}

function* danglingNames({ startAt, states }: Workflow): Iterable<string> {
  if (!states.has(startAt)) yield `StartAt: there is no state "${startAt}"`;
  for (const [name, state] of states) {
    for (const [field, next] of waysOn(state)) {
      if (!states.has(next)) yield `State "${name}", ${field}: there is no state "${next}"`;
    }
  }
}

function* unreachableStates({ startAt, states }: Workflow): Iterable<string> {
  const reached = new Set([startAt]);
  // Iterating a Set includes entries added during the iteration.
  for (const name of reached) {
    const state = states.get(name);
    if (state !== undefined) for (const [, next] of waysOn(state)) reached.add(next);
  }
  for (const name of states.keys()) if (!reached.has(name)) yield `State "${name}": no state leads to it`;
}

/** Returns every field of a state that names another state. */
function* waysOn(state: State): Iterable<[field: string, next: string]> {
  switch (state.Type) {
    case 'Task':
      yield ['Next', state.Next];
      for (const [i, { Next }] of state.Catch.entries()) yield [`Catch[${i}].Next`, Next];
      break;
    case 'Wait':
      yield ['Next', state.Next];
      break;
    case 'Choice':
      for (const [i, { Next }] of state.Choices.entries()) yield [`Choices[${i}].Next`, Next];
      yield ['Default', state.Default];
      break;
    case 'Succeed':
    case 'Fail':
      break;
  }
}
