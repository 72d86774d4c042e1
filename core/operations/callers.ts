import { newCaller } from '../caller.ts';
import type { Caller } from '../caller.ts';
import type { Collaborators } from '../collaborators.ts';
import type { CallerRequest } from '../requests/keys.ts';

type Needs = Pick<Collaborators, 'callers' | 'now'>;

/** Makes the caller, or finds the one of that name as it is: repeating it is safe. */
export async function addCaller({ caller, label }: CallerRequest, c: Needs): Promise<Caller> {
  const wanted = newCaller(caller, label, c.now());
  await c.callers.add(wanted);
  return (await c.callers.find(caller)) ?? wanted;
}

/** By name; `next_after` is where the next page begins, null on the last. */
export async function listCallers(after: string, limit: number, c: Needs) {
  const found = await c.callers.list(after, limit + 1);
  const callers = found.slice(0, limit);
  return {
    callers: callers.map(presentCaller),
    next_after: found.length > limit ? (callers.at(-1)?.caller ?? null) : null,
  };
}

export function presentCaller({ caller, label, created_at }: Caller) {
  return { caller, label, created_at };
}
