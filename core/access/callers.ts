import { newCaller } from '../records/caller.ts';
import type { Caller } from '../records/caller.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { CallerRequest } from '../requests/keys.ts';

type Deps = Pick<CoreDeps, 'callers' | 'now'>;

/** Makes the caller, or finds the one of that name as it is: repeating it is safe. */
export async function addCaller({ caller, label }: CallerRequest, deps: Deps): Promise<Caller> {
  const wanted = newCaller(caller, label, deps.now());
  await deps.callers.add(wanted);
  return (await deps.callers.find(caller)) ?? wanted;
}

/** By name; `next_after` is where the next page begins, null on the last. */
export async function listCallers(after: string, limit: number, deps: Deps) {
  const found = await deps.callers.list(after, limit + 1);
  const callers = found.slice(0, limit);
  return {
    callers: callers.map(presentCaller),
    next_after: found.length > limit ? (callers.at(-1)?.caller ?? null) : null,
  };
}

export function presentCaller({ caller, label, created_at }: Caller) {
  return { caller, label, created_at };
}
