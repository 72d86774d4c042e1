import type { Watch, WatchCondition, WatchPatch } from '../api/types.ts';

/** Condition in the form; a new one has no id yet. */
export type ConditionDraft = Omit<WatchCondition, 'condition_id'> & { condition_id?: string };

/** Form state of a watch's main fields. `null` is an empty number field. */
export type WatchDraft = {
  name: string;
  intervalSeconds: number | null;
  prefilter: boolean;
  retentionDays: number | null;
  conditions: ConditionDraft[];
};

/** Condition that the form adds, with the defaults of the API. */
export const newCondition: ConditionDraft = {
  condition: '',
  checks_to_open: 2,
  checks_considered: 3,
  checks_to_close: 3,
  cooldown_seconds: 0,
  remind_seconds: null,
  severity: 'warning',
};

/** Returns the form state of a watch. */
export function toWatchDraft(watch: Watch): WatchDraft {
  return {
    name: watch.name,
    intervalSeconds: watch.interval_seconds,
    prefilter: watch.enable_prefilter,
    retentionDays: watch.retention_days,
    conditions: watch.conditions,
  };
}

/** Returns the merge patch from one form state to another: only changed fields. */
export function toWatchPatch(before: WatchDraft, after: WatchDraft): WatchPatch {
  const changed = (field: keyof WatchDraft) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  return {
    ...(changed('name') && { name: after.name.trim() }),
    ...(changed('intervalSeconds') && { interval_seconds: after.intervalSeconds }),
    ...(changed('prefilter') && { enable_prefilter: after.prefilter }),
    ...(changed('retentionDays') && { retention_days: after.retentionDays }),
    ...(changed('conditions') && {
      conditions: after.conditions.map((each) => ({ ...each, condition: each.condition.trim() })),
    }),
  };
}
