import { z } from 'zod';

/** States of a definition, as far as their order is concerned. */
const definitionSchema = z.object({
  StartAt: z.string(),
  States: z.record(
    z.string(),
    z.object({ Type: z.string(), Next: z.string().optional(), Default: z.string().optional() }),
  ),
});

/**
 * Counts the state transitions of the loop of a definition without failures and rests: the states that `Next` and `Default` lead to. AWS bills
 * each transition of a Standard workflow. Throws if the definition has no loop.
 */
export function transitionsPerLoop(definition: unknown): number {
  const { StartAt: startAt, States: states } = definitionSchema.parse(definition);
  const entered = new Map<string, number>();
  let name: string | undefined = startAt;
  for (let step = 0; name !== undefined; step += 1) {
    const before = entered.get(name);
    if (before !== undefined) return step - before;
    entered.set(name, step);
    const state: z.output<typeof definitionSchema>['States'][string] | undefined = states[name];
    name = state?.Next ?? state?.Default;
  }
  throw new Error('The definition has no loop');
}

/** Transitions of an execution outside of its loop: before it, and its final state. */
export function transitionsPerExecution(definition: unknown): number {
  const { StartAt: startAt, States: states } = definitionSchema.parse(definition);
  const entered = new Set<string>();
  let name: string | undefined = startAt;
  while (name !== undefined && !entered.has(name)) {
    entered.add(name);
    const state: z.output<typeof definitionSchema>['States'][string] | undefined = states[name];
    name = state?.Next ?? state?.Default;
  }
  return entered.size - transitionsPerLoop(definition) + 1;
}
