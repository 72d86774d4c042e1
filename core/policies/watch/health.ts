import { findState, type DestinationState } from '../../records/delivery.ts';
import type { Destination, WatchConfig } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import { maxErrorLength, type WatchHealth } from '../../records/watch-state.ts';
import type { NewWatchEvent, UnsureSightings, WatchChangeReason } from '../../records/watch-event.ts';
import { rules } from '../../rules.ts';
import { ageSeconds, isOver } from '../../time.ts';
import { isUnjudgeable, shorten } from './condition.ts';
import { compareViews, isTelling } from '../../sight/view.ts';

/** Signs from which a tick concludes whether the service serves its watch. */
export type HealthSigns = {
  /** Planned time of the tick; `null` for the first one. */
  plannedAt: string | null;
  /** Factor of the interval in an overload, else 1. */
  stretch: number;
  /** States of all addresses of the watch, also of former ones; `null` if they are not known. */
  destinations: readonly DestinationState[] | null;
  /** View of the picture; absent without one, or without regions. */
  view?: string | undefined;
  /** Conditions that the check was not sure of. */
  unsure?: readonly string[];
};

/** Change of the health of a watch, reported as `watch_changed`. */
type HealthNews = Omit<Extract<NewWatchEvent, { type: 'watch_changed' }>['data'], 'status'>;

/** Decides the health of a watch after a tick, and what its log reports. */
export function decideHealth(
  before: WatchHealth,
  config: Pick<WatchConfig, 'destinations' | 'conditions'>,
  signs: HealthSigns,
  now: Date,
): { health: WatchHealth; news: HealthNews[] } {
  const { destinations } = config;
  const lateSeconds = signs.plannedAt === null ? 0 : Math.floor(ageSeconds(signs.plannedAt, now));
  // A watch in trouble is in time again below half of the limit, so that one near the limit does not alternate.
  const limit = before.late_since === null ? rules.lateWatchSeconds : rules.lateWatchSeconds / 2;
  const isLate = lateSeconds > limit || signs.stretch >= rules.lateWatchStretch;
  const failing =
    signs.destinations === null ? before.failing : findFailing(before, destinations, signs.destinations, now);
  const wasFailing = new Set(before.failing.map(({ destination_id: id }) => id));
  const failsNow = new Set(failing.map(({ destination_id: id }) => id));
  const remaining = new Set(destinations.map(({ destination_id: id }) => id));
  const { unsure, news: sightings } = countUnsure(before.unsure, config, signs.unsure ?? [], now);
  const { view, reason } = decideView(before.view, signs.view, now);
  return {
    health: {
      late_since: isLate ? (before.late_since ?? signs.plannedAt ?? now.toISOString()) : null,
      failing,
      ...(view && { view }),
      ...(unsure && { unsure }),
    },
    news: [
      ...(reason ? [{ reason }] : []),
      ...(sightings.length > 0 ? [{ reason: 'unsure_sightings', unsure_sightings: sightings } as const] : []),
      ...(isLate && before.late_since === null
        ? [{ reason: 'checks_late', late_seconds: lateSeconds } as const]
        : []),
      ...(!isLate && before.late_since !== null ? [{ reason: 'checks_in_time' } as const] : []),
      ...failing
        .filter(({ destination_id: id }) => !wasFailing.has(id))
        .map(
          ({ destination_id, error }) => ({ reason: 'destination_failed', destination_id, error }) as const,
        ),
      ...[...wasFailing]
        .filter((id) => !failsNow.has(id))
        .map((id) => ({
          reason: 'destination_recovered' as const,
          destination_id: id,
          ...(remaining.has(id) ? {} : { ended_by: 'changed' as const }),
        })),
    ],
  };
}

function findFailing(
  before: WatchHealth,
  destinations: readonly Destination[],
  states: readonly DestinationState[],
  now: Date,
): WatchHealth['failing'] {
  return destinations.flatMap((destination) => {
    const { destination_id: id } = destination;
    const state = findState(destination, states);
    if (!state || !isFailing(state)) return [];
    const failingBefore = before.failing.find(({ destination_id: other }) => other === id);
    const since = failingBefore?.since ?? state.disabled?.at ?? now.toISOString();
    const error = shorten(state.disabled?.reason ?? state.last_error ?? '').slice(0, maxErrorLength);
    return [{ destination_id: id, since, error }];
  });
}

/** Returns true for an address that is disabled, or that has failed for minutes. */
function isFailing({ disabled, failures }: DestinationState): boolean {
  return disabled !== null || failures >= rules.failingDestinationAttempts;
}

/**
 * Returns true while a watch sees its stream, judges all conditions in time and reaches all destinations, besides the
 * one with this id.
 */
export function isAllWell(
  { status, sight, state }: Pick<WatchRun, 'status' | 'sight' | 'state'>,
  exceptId: string,
): boolean {
  const { late_since: lateSince, failing } = state.health;
  return (
    status === 'active' &&
    lateSince === null &&
    sight.in_gap === null &&
    sight.model_trouble === null &&
    !state.conditions.some(isUnjudgeable) &&
    failing.every(({ destination_id: id }) => id === exceptId)
  );
}

/**
 * Counts unsure sightings for a week from the first one, and returns those of a week that is over if they are worth a
 * message: at most one message a week. `unsure` has the conditions that the newest check was not sure of.
 */
export function countUnsure(
  before: WatchHealth['unsure'],
  { conditions }: Pick<WatchConfig, 'conditions'>,
  unsure: readonly string[],
  now: Date,
): { unsure: WatchHealth['unsure']; news: UnsureSightings } {
  const week = before && !isOver(before.since, rules.unsureSeconds, now) ? before : undefined;
  const news = before && !week ? conditions.flatMap(readSightings(before)) : [];
  const total = news.reduce((sum, { sightings }) => sum + sightings, 0);
  // Those of removed conditions would grow with each edit.
  const counted = conditions.flatMap(({ condition_id: id }) => {
    const sightings = (week?.sightings[id] ?? 0) + (unsure.includes(id) ? 1 : 0);
    return sightings > 0 ? [[id, sightings] as const] : [];
  });
  return {
    unsure:
      counted.length > 0
        ? { since: week?.since ?? now.toISOString(), sightings: Object.fromEntries(counted) }
        : undefined,
    news: total >= rules.minUnsureSightings ? news : [],
  };
}

/** Leaves out conditions that a change has removed. */
function readSightings({ sightings: counted }: NonNullable<WatchHealth['unsure']>) {
  return ({ condition_id, condition }: WatchConfig['conditions'][number]): UnsureSightings => {
    const sightings = counted[condition_id] ?? 0;
    return sightings > 0 ? [{ condition_id, condition, sightings }] : [];
  };
}

type View = WatchHealth['view'];

/**
 * Decides whether a camera shows the view in which the regions of its watch were drawn. `shown` describes the newest
 * picture; absent without one, and without regions. Another view counts once several pictures in a row show it for a
 * time: a passing truck and a headlight do not count.
 */
export function decideView(
  before: View,
  shown: string | undefined,
  now: Date,
): { view: View; reason?: WatchChangeReason } {
  if (shown === undefined) return { view: before };
  if (before === undefined)
    return isTelling(shown) ? { view: { drawn: shown, other: null } } : { view: before };
  const compared = compareViews(before.drawn, shown);
  if (compared === 'unclear') return { view: before };
  if (compared === 'same')
    return {
      view: { ...before, other: null },
      ...(before.other?.told && { reason: 'view_restored' }),
    };
  const { since = now.toISOString(), pictures = 0, told = false } = before.other ?? {};
  const isTold = pictures + 1 >= rules.otherViewPictures && isOver(since, rules.otherViewSeconds, now);
  return {
    view: {
      ...before,
      other: { since, pictures: Math.min(pictures + 1, rules.otherViewPictures), told: told || isTold },
    },
    ...(isTold && !told && { reason: 'view_changed' }),
  };
}
