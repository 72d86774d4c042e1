import type { DestinationState, WaitingEvent } from '../records/delivery.ts';
import type { DestinationType, Severity } from '../records/watch.ts';
import { rules } from '../rules.ts';
import { addSeconds, isOver, secondsUntil } from '../time.ts';
import { addWaiting, findHeads } from './destination-state.ts';

/** Openings of alerts that reach people in a burst: one message that says how many. */

/**
 * Types whose messages people read one by one. An incident of PagerDuty and an event of a program are one alert each.
 */
const joinsOpenings: Record<DestinationType, boolean> = {
  slack: true,
  discord: true,
  ntfy: true,
  telegram: true,
  email: true,
  pagerduty: false,
  mqtt: false,
  webhook: false,
  heartbeat: false,
};

/** Returns true for an event that can be a part of a message about several. */
export function isJoinable(type: DestinationType, event: { type: string }): boolean {
  return joinsOpenings[type] && event.type === 'alert_opened';
}

/**
 * Returns how long an opening waits for others, in seconds: 0 for the first ones of a burst, and for a critical one.
 */
export function burstSeconds({ told = [] }: DestinationState, severity: Severity, now: Date): number {
  const first = told.at(-rules.openingsPerBurst);
  if (severity === 'critical' || first === undefined) return 0;
  return secondsUntil(addSeconds(new Date(first), rules.burstSeconds), now, rules.burstSeconds);
}

/** Returns the state after a message about openings. */
export function afterOpenings(state: DestinationState, now: Date): DestinationState {
  return { ...state, told: [...(state.told ?? []), now.toISOString()].slice(-rules.openingsPerBurst) };
}

/**
 * Lists the events that a message can join: the first waiting one of each subject, unless an attempt of it is under
 * way.
 */
export function listJoinable(state: DestinationState, sequence: number, now: Date): WaitingEvent[] {
  return findHeads(state).filter(
    ({ sequence: other, attempted_at: attemptedAt }) =>
      other !== sequence && (attemptedAt === undefined || isOver(attemptedAt, rules.maxAttemptSeconds, now)),
  );
}

/** Returns the state in which a message takes these events along. `time`: begin of its attempt, null after it. */
export function markJoined(
  state: DestinationState,
  joined: readonly { event: WaitingEvent }[],
  time: Date | null,
): DestinationState {
  return joined.reduce((before, { event: { sequence, subject, attempts, resend } }) => {
    if (!before.waiting.some((waiting) => waiting.sequence === sequence)) return before;
    const event = { sequence, subject, attempts, resend };
    return addWaiting(before, time === null ? event : { ...event, attempted_at: time.toISOString() });
  }, state);
}
