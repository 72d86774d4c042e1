import { findState, type DestinationState } from '../../records/delivery.ts';
import type { Destination, WatchConfig } from '../../records/watch.ts';
import type { WatchRun } from '../../records/watch-run.ts';
import { maxErrorLength, type WatchHealth } from '../../records/watch-state.ts';
import type { NewWatchEvent } from '../../records/watch-event.ts';
import { rules } from '../../rules.ts';
import { ageSeconds } from '../../time.ts';
import { decideView } from './changed-view.ts';
import { isUnjudgeable, shorten } from './condition.ts';
import { countUnsure } from './unsure-week.ts';

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
