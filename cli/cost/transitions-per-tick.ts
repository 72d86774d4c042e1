import type { State } from '../../adapters/embedded/workflow/state-schemas.ts';
import type { Workflow } from '../../adapters/embedded/workflow/definition.ts';

/** How many states an execution enters before it is where it was: the way of a job that goes on. Each is billed. */
export function transitionsPerTick({ startAt, states }: Workflow): number {
  const entered = new Map<string, number>();
  let name: string | undefined = startAt;
  for (let step = 0; name !== undefined; step += 1) {
    const before = entered.get(name);
    if (before !== undefined) return step - before;
    entered.set(name, step);
    name = wayOn(states.get(name));
  }
  throw new Error('The workflow has no round: it ends by itself');
}

function wayOn(state: State | undefined): string | undefined {
  if (state?.Type === 'Choice') return state.Default;
  return state?.Type === 'Task' || state?.Type === 'Wait' ? state.Next : undefined;
}
