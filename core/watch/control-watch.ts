import { AlertNotFoundError, UnknownConditionError } from '../errors.ts';
import { findState } from '../records/delivery.ts';
import type { WatchRun } from '../records/run.ts';
import type { Alert } from '../records/watch-state.ts';
import {
  acknowledgeAlert,
  deleteWatch,
  pauseWatch,
  resumeWatch,
  snoozeWatch,
} from '../policies/watch/change.ts';
import { changeStoredWatch, removeQuietly, startQuietly, type WatchDeps } from './commit-watch.ts';
import { describeNotified, type Notified } from './end-former.ts';
import { forgetMoments } from './forget-moments.ts';

/** Pauses a watch until it is resumed. A paused watch stays as it was. */
export async function pauseStoredWatch(watchId: string, caller: string, deps: WatchDeps): Promise<WatchRun> {
  return changeStoredWatch(watchId, caller, deps, (watch) => {
    if (watch.status === 'paused') return undefined;
    return pauseWatch(watch, 'paused', deps.now());
  });
}

/** Resumes a paused watch: its next check is immediate. */
export async function resumeStoredWatch(watchId: string, caller: string, deps: WatchDeps): Promise<WatchRun> {
  const resumed = await changeStoredWatch(watchId, caller, deps, (watch) => {
    if (watch.status !== 'paused') return undefined;
    return resumeWatch(watch, deps.now());
  });
  await startQuietly(resumed, deps);
  return resumed;
}

/** Snoozes one condition or all. Throws `UnknownConditionError`. */
export async function snoozeStoredWatch(
  { watchId, seconds, conditionId }: { watchId: string; seconds: number; conditionId: string | undefined },
  caller: string,
  deps: WatchDeps,
): Promise<WatchRun> {
  return changeStoredWatch(watchId, caller, deps, (watch) => {
    const ids = watch.state.conditions.map(({ condition_id: id }) => id);
    if (conditionId !== undefined && !ids.includes(conditionId)) throw new UnknownConditionError(ids);
    const state = snoozeWatch(watch.state, seconds, conditionId, deps.now());
    return { set: { state }, events: [], alerts: [] };
  });
}

/** Evidence that a response waits for. What is more expires with its retention; a message removes left moments. */
const mediaOfResponse = 10_000;

/**
 * Deletes a watch: closes its alerts, and erases source and evidence. Its last events are still delivered. Returns
 * which destinations were notified of something that stood open.
 */
export async function deleteStoredWatch(watchId: string, caller: string, deps: WatchDeps) {
  let notified: Notified[] = [];
  const deleted = await changeStoredWatch(watchId, caller, deps, async (watch) => {
    const states = await deps.deliveries.states({ run: 'watch', run_id: watchId });
    notified = watch.config.destinations.map((destination) =>
      describeNotified(destination, findState(destination, states), watch),
    );
    return deleteWatch(watch, deps.now());
  });
  // A tick under way removes what it has stored.
  // First: a message continues it, and not the removal of other media.
  await removeQuietly(deleted, () => forgetMoments(watchId, null, deps), deps);
  await removeQuietly(deleted, () => deps.media.removeOfSource(deleted.source_id, mediaOfResponse), deps);
  return notified.filter(({ open_alerts: alerts, stream_lost: isLost }) => alerts.length > 0 || isLost);
}

/** Acknowledges an alert: an open one is not repeated. An acknowledged alert stays as it was. */
export async function acknowledgeOwnAlert(
  alertId: string,
  caller: string,
  by: string,
  deps: WatchDeps,
): Promise<Alert> {
  const alert = await requireOwnAlert(alertId, caller, deps);
  const changedAt = deps.now();
  await changeStoredWatch(alert.watch_id, caller, deps, (watch) => {
    const decided = acknowledgeAlert(watch, alertId, by, changedAt);
    const isOpen = watch.state.conditions.some(({ alert: open }) => open?.alert_id === alertId);
    if (decided === undefined && (isOpen || alert.acknowledged)) return undefined;
    const acknowledged = { at: changedAt.toISOString(), by };
    return {
      set: decided ? { state: decided.state } : {},
      // Nobody waits for the acknowledgement of a closed one.
      events: decided ? [decided.event] : [],
      alerts: [{ kind: 'acknowledge', alertId, acknowledged }],
    };
  });
  return requireOwnAlert(alertId, caller, deps);
}

/** Stores a person's judgement of an alert. It replaces an earlier one and changes no state. */
export async function reviewOwnAlert(
  alertId: string,
  { correct, note }: { correct: boolean; note: string },
  caller: string,
  by: string,
  deps: WatchDeps,
): Promise<Alert> {
  await requireOwnAlert(alertId, caller, deps);
  const review = { correct, note, at: deps.now().toISOString(), by };
  const reviewed = await deps.watches.review(alertId, review, deps.now());
  if (reviewed === undefined) throw new AlertNotFoundError();
  return reviewed;
}

/** Throws `AlertNotFoundError` for alerts that are gone, and for those of other callers, as if absent. */
export async function requireOwnAlert(
  alertId: string,
  caller: string,
  { runs, now }: Pick<WatchDeps, 'runs' | 'now'>,
): Promise<Alert> {
  const alert = await runs.alert(alertId, now());
  if (alert?.caller !== caller) throw new AlertNotFoundError();
  return alert;
}
