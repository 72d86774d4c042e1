import { newCaller, type Caller } from '../records/caller.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { CallerRequest } from '../requests/keys.ts';

type Deps = Pick<CoreDeps, 'callers' | 'now'>;

/** Adds a caller, or returns the existing one unchanged. Repeatable. */
export async function addCaller({ caller, label }: CallerRequest, deps: Deps): Promise<Caller> {
  const added = newCaller(caller, label, deps.now());
  await deps.callers.add(added);
  return (await deps.callers.find(caller)) ?? added;
}

/** Returns a page of callers by name. `next_after` is the start of the next page, `null` on the last. */
export async function listCallers(after: string, limit: number, deps: Deps) {
  const page = await deps.callers.list(after, limit + 1);
  const callers = page.slice(0, limit);
  return {
    callers: callers.map(presentCaller),
    next_after: page.length > limit ? (callers.at(-1)?.caller ?? null) : null,
  };
}

export function presentCaller({ caller, label, created_at }: Caller) {
  return { caller, label, created_at };
}
