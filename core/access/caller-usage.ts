import type { CoreDeps } from '../dependencies.ts';
import { ForbiddenError, WatchpostError } from '../errors.ts';
import { useRetentionDays } from '../ports/usage.ts';
import { addUse, noUse, type CallerUse } from '../records/caller.ts';
import type { UsageQuery } from '../requests/usage.ts';
import { isAdmin, maySee, type Actor } from './keys.ts';

type Deps = Pick<CoreDeps, 'callers' | 'now'> & { usage: Pick<CoreDeps['usage'], 'days'> };

const defaultDays = 30;
const dayMs = 86_400_000;

/**
 * Returns the use of the actor's caller, of another one, or of a page of all callers. Throws `ForbiddenError` without
 * the scope `admin`.
 */
export async function readUsage(actor: Actor, query: UsageQuery, deps: Deps) {
  const { from, to } = readDays(query, deps.now());
  const { names, next } = await selectCallers(actor, query, deps);
  const callers = await Promise.all(
    names.map(async (caller) => {
      const days = await deps.usage.days(caller, from, to);
      const total = days.map(({ use }) => use).reduce(addUse, noUse);
      return {
        caller,
        ...presentUse(total),
        days: days.map(({ day, use }) => ({ day, ...presentUse(use) })),
      };
    }),
  );
  return { from, to, callers, next_after: next };
}

/** Maximum callers in the metrics: each is a series. */
const maxSeries = 1000;

/** Returns the use of all callers since midnight (UTC), without those that have none. */
export async function readUsageToday({
  callers,
  usage,
  now,
}: Omit<Deps, 'callers'> & { callers: Pick<Deps['callers'], 'list'> }) {
  const today = toDay(now().getTime());
  const listed = await callers.list('', maxSeries);
  const uses = await Promise.all(
    listed.map(async ({ caller }) =>
      (await usage.days(caller, today, today)).map(({ use }) => ({ caller, use })),
    ),
  );
  return uses.flat();
}

/** Name of the sum of further callers, which no caller can have. */
export const otherCallers = '(others)';

export type UseOfCaller = { caller: string; use: CallerUse };

/** Returns the `count` uses with the highest price, or the most tokens without one, and the sum of the others. */
export function selectLargestUses(uses: readonly UseOfCaller[], count: number): UseOfCaller[] {
  const sorted = uses.toSorted(
    (one, other) => other.use.micro_usd - one.use.micro_usd || countTokens(other.use) - countTokens(one.use),
  );
  const others = sorted.slice(count).map(({ use }) => use);
  const sum = { caller: otherCallers, use: others.reduce(addUse, noUse) };
  return [...sorted.slice(0, count), ...(others.length > 0 ? [sum] : [])];
}

export function countTokens({ input_tokens: input, output_tokens: output }: CallerUse): number {
  return input + output;
}

async function selectCallers(actor: Actor, { caller, all, after, limit }: UsageQuery, { callers }: Deps) {
  if (all) {
    if (actor.caller !== null && !isAdmin(actor)) throw adminScopeRequiredError();
    const page = (await callers.list(after ?? '', limit + 1)).map((each) => each.caller);
    const names = page.slice(0, limit);
    return { names, next: page.length > limit ? (names.at(-1) ?? null) : null };
  }
  const name = caller ?? actor.caller;
  if (name === null) throw new WatchpostError('BAD_REQUEST', 'No caller is named', 'Set caller, or all.');
  if (!maySee(actor, name)) throw adminScopeRequiredError();
  return { names: [name], next: null };
}

function readDays(query: UsageQuery, now: Date): { from: string; to: string } {
  const to = query.to ?? toDay(now.getTime());
  const from = query.from ?? toDay(Date.parse(to) - (defaultDays - 1) * dayMs);
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (days >= 1 && days <= useRetentionDays) return { from, to };
  throw new WatchpostError(
    'BAD_REQUEST',
    `The days from ${from} to ${to} are no period`,
    `Set from to a day before to, at most ${useRetentionDays} days.`,
  );
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function presentUse({ micro_usd: microUsd, unpriced_calls: unpriced, ...use }: CallerUse) {
  return { ...use, cost_usd: unpriced > 0 ? null : microUsd / 1_000_000 };
}

function adminScopeRequiredError(): ForbiddenError {
  return new ForbiddenError(
    'Use a key with the scope "admin", or leave caller and all out for your own use.',
  );
}
