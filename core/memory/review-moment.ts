import type { CoreDeps } from '../dependencies.ts';
import { WatchpostError } from '../errors.ts';
import type { Moment } from '../records/moment.ts';
import { asWatch } from '../records/run.ts';
import { addSeconds } from '../time.ts';
import { requireOwnMoment } from './list-moments.ts';

type Deps = Pick<CoreDeps, 'moments' | 'watches' | 'runs' | 'now'>;

/** Longest time from the first picture of a visit to its alert, in seconds: ten checks with the longest interval. */
const maxConfirmingSeconds = 3600;
/** More than the alerts of a condition in that time. */
const maxAlerts = 500;

/**
 * Stores a person's judgement of a condition in a moment. It replaces an earlier one and changes no state. A condition
 * that holds is missed unless an alert of it was open then, or opened about its visit. Throws `NOT_FOUND` for a moment
 * that is gone or is another caller's, and `BAD_REQUEST` for another condition than one of the watch.
 */
export async function reviewOwnMoment(
  momentId: string,
  { conditionId, holds }: { conditionId: string; holds: boolean },
  caller: string,
  by: string,
  deps: Deps,
): Promise<Moment> {
  const { watch_id: watchId, at } = await requireOwnMoment(momentId, caller, deps);
  const watch = asWatch(await deps.runs.get(watchId, deps.now()));
  const rule = watch?.config.conditions.find(({ condition_id: id }) => id === conditionId);
  if (!rule)
    throw new WatchpostError(
      'BAD_REQUEST',
      `The watch has no condition ${conditionId}`,
      'Use the condition_id of one of its conditions.',
    );
  const from = new Date(at);
  const to = addSeconds(from, (rule.open_after_seconds ?? 0) + maxConfirmingSeconds);
  const query = { caller, watchId, conditionId, from, to, limit: maxAlerts };
  const alerts = await deps.watches.alerts(query, deps.now());
  const isAlerted = alerts.some(({ opened_at: opened, seen_from: since = opened }) => since <= at);
  const { condition } = rule;
  const review = {
    condition_id: conditionId,
    condition,
    holds,
    missed: holds && !isAlerted,
    at: deps.now().toISOString(),
    by,
  };
  const reviewed = await deps.moments.review(caller, momentId, review, deps.now());
  // It expired meanwhile.
  return reviewed ?? requireOwnMoment(momentId, caller, deps);
}
