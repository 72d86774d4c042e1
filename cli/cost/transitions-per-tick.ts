import type { State } from '../../adapters/embedded/workflow/state-schemas.ts';
import type { Workflow } from '../../adapters/embedded/workflow/definition.ts';

/** Counts the state transitions of one tick of a continuing job; AWS bills each. Throws if the workflow has no loop. */
export function transitionsPerTick({ startAt, states }: Workflow): number {
  const entered = new Map<string, number>();
  let name: string | undefined = startAt;
  for (let step = 0; name !== undefined; step += 1) {
    const before = entered.get(name);
    if (before !== undefined) return step - before;
    entered.set(name, step);
    name = nextState(states.get(name));
  }
  throw new Error('The workflow has no loop');
}

function nextState(state: State | undefined): string | undefined {
  if (state?.Type === 'Choice') return state.Default;
  return state?.Type === 'Task' || state?.Type === 'Wait' ? state.Next : undefined;
}
