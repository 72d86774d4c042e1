import { destinationTypes } from './watch-draft.ts';
import type {
  DestinationType,
  Alert,
  ConditionState,
  Watch,
  WatchCondition,
  WatchEvent,
  WatchStats,
} from '../api/types.ts';
import { percent } from '../jobs/job-labels.ts';
import type { Tone } from '../parts/badge.tsx';
import { duration, shortTime, pluralize } from '../time/format.ts';

/** Labels and badge tones of watches. */

type Status = Watch['status'];
type Causes = Watch['state']['causes'];

export const watchTones: Record<Status, Tone> = {
  active: 'good',
  paused: 'neutral',
  off_schedule: 'neutral',
  budget_exhausted: 'warn',
  stream_lost: 'bad',
};

export const severityTones: Record<Alert['severity'], Tone> = {
  info: 'neutral',
  warning: 'warn',
  critical: 'bad',
};

const phaseTones: Record<ConditionState['state'], Tone> = { unknown: 'warn', clear: 'good', open: 'alert' };

const lossReasons: Record<NonNullable<Causes['stream_lost']>['reason'], string> = {
  unreachable: 'the stream cannot be reached; check that the camera is on and in the network',
  stale: 'the stream has no new segment',
  damaged: 'packets of the stream are lost',
  access_refused: 'the stream refuses the password; change the address of the watch',
  not_live: 'the stream ended, or is a recording',
  frozen: 'the picture is frozen',
  black: 'the picture is black',
};

const closeReasons: Record<Exclude<NonNullable<Alert['closed']>['reason'], 'cleared'>, string> = {
  paused: 'the watch was paused',
  off_schedule: 'the schedule ended',
  changed: 'the condition was changed',
  removed: 'the condition was removed',
  deleted: 'the watch was deleted',
};

export function watchStatusLabel(status: Status): string {
  return status.replaceAll('_', ' ');
}

/** Returns which visits a watch is sure to see, as a sentence. */
export function visitLabel({
  interval_seconds: interval,
  state,
}: Pick<Watch, 'interval_seconds' | 'state'>): string {
  const seconds = Math.ceil(state.shortest_visit_seconds);
  return seconds <= interval
    ? `Sure to see visits of ${seconds} s and more.`
    : `Checked every ${interval} s: visits shorter than ${seconds} s may be missed.`;
}

/** Returns how an alert ended: how long its visit was seen, or what closed it. */
export function closedLabel(closed: NonNullable<Alert['closed']>): string {
  return closed.reason === 'cleared'
    ? `seen for ${duration(closed.seen_seconds)}`
    : `closed after ${duration(closed.open_seconds)}: ${closeReasons[closed.reason]}`;
}

/** Returns label and tone of a condition's state, in a watch with the status. */
export function conditionLabel(
  { state, unconfirmed, unjudged, held_at: held, seen_at: seen, snoozed_until: snoozed }: ConditionState,
  status: Status,
): { label: string; tone: Tone } {
  if (unjudged) return { label: 'not judged by the model', tone: 'warn' };
  if (unconfirmed) return { label: 'open, nothing seen', tone: 'warn' };
  if (state === 'clear' && snoozed !== null && Date.parse(snoozed) > Date.now())
    return { label: `snoozed until ${shortTime(new Date(snoozed))}`, tone: 'warn' };
  // Nobody looks now.
  if (state === 'clear' && status !== 'active') return { label: 'clear at the last check', tone: 'neutral' };
  const label = held !== null && held < seen ? 'open, not there now' : state;
  return { label, tone: phaseTones[state] };
}

export function conditionsWithState({
  conditions,
  state,
}: Pick<Watch, 'conditions' | 'state'>): { condition: WatchCondition; state: ConditionState | undefined }[] {
  return conditions.map((condition) => ({
    condition,
    state: state.conditions.find(({ condition_id: id }) => id === condition.condition_id),
  }));
}

export function countOpen({ state }: Pick<Watch, 'state'>): number {
  return state.conditions.filter(({ alert_id: id }) => id !== null).length;
}

/** Returns the cause of the status as a sentence, with its start; undefined for an active watch. */
export function findCause({
  status,
  state: { causes },
}: Pick<Watch, 'status' | 'state'>): { text: string; since: string } | undefined {
  if (status === 'active') return undefined;
  const cause = causes[status];
  if (!cause) return undefined;
  return { text: causeText(status, causes), since: cause.since };
}

function causeText(status: Exclude<Status, 'active'>, { stream_lost: lost }: Causes): string {
  if (status === 'paused') return 'The watch is paused.';
  if (status === 'off_schedule') return 'The schedule has no active span now.';
  if (status === 'budget_exhausted') return 'The budget of the day is used up; open alerts stay open.';
  return `The stream is lost: ${lost ? lossReasons[lost.reason] : 'unknown reason'}.`;
}

/** Returns the trouble of the service with a watch, one sentence each with its start. */
export function findTrouble({ state }: Pick<Watch, 'state'>): { text: string; since: string }[] {
  const { late_since: late, destinations_failing: failing, view_changed_since: other } = state;
  return [
    ...(other === null
      ? []
      : [
          {
            text: 'The camera shows another view than the one in which the regions were drawn. Draw them again, turn the camera back, or save the watch if they still fit.',
            since: other,
          },
        ]),
    ...(late === null
      ? []
      : [{ text: 'Checks are late: the service was down or is overloaded.', since: late }]),
    ...failing.map(({ destination_id: id, since, error }) => ({
      text: `The destination ${id} accepts nothing: ${error}.`,
      since,
    })),
  ];
}

/** Returns the share of the active time that lay between two pictures. */
export function shareBetween(hours: WatchStats['hours']): number {
  const [between, active] = hours.reduce(
    (
      [some, all],
      { judged_seconds: judged, quiet_seconds: quiet, between_seconds: part, not_seen_seconds: gap },
    ) => [some + part, all + judged + quiet + part + gap],
    [0, 0],
  );
  return active === 0 ? 0 : between / active;
}

/** Returns what a check found, as one line. `texts` has the text of each condition by id. */
export function progressText(
  event: Extract<WatchEvent, { type: 'progress' }>,
  texts: ReadonlyMap<string, string>,
): string {
  const {
    conditions,
    prefilter_skipped: skipped,
    picture,
    explanation,
    moments_judged: moments,
  } = event.data;
  if (skipped && picture === 'ok') return 'No motion: skipped.';
  // A condition without a verdict has the reason of the model, or was not asked about.
  const answered = conditions.filter(
    ({ triggered, explanation: reason }) => triggered !== null || reason !== '',
  );
  if (answered.length === 0) return explanation;
  const results = answered.map(({ condition_id: id, triggered }) => {
    const result = triggered === null ? 'not judged' : triggered ? 'holds' : 'does not hold';
    return `${texts.get(id) ?? id}: ${result}`;
  });
  return (
    results.join(', ') + (moments === undefined ? '' : ` · ${pluralize(moments, 'earlier moment')} judged`)
  );
}

/** Returns the name of a destination for people: its type, with its id if that says more. */
export function destinationName({
  type,
  destination_id: id,
}: {
  type: DestinationType;
  destination_id: string;
}): string {
  const label = destinationTypes.find((each) => each.type === type)?.label ?? type;
  return id === type ? label : `${label} (${id})`;
}

/** Returns when an alert of a condition opens and closes. */
export function rulesText({
  alert_on: alertOn,
  checks_to_open: open,
  checks_considered: considered,
  open_after_seconds: openAfter = 0,
  checks_to_close: close,
  close_after_seconds: seconds,
}: Omit<WatchCondition, 'condition_id'>): string {
  const held = openAfter === 0 ? '' : ` and ${duration(openAfter)} for which it held`;
  const opens = `Opens after ${open} of ${considered} checks that hold${held}`;
  if (alertOn === 'each_visit') return `${opens}. Each visit is an alert.`;
  if (alertOn === 'each_stay') return `${opens}, closes after ${duration(seconds)} without it.`;
  const time = seconds === 0 ? '' : ` and ${duration(seconds)} without it`;
  return `${opens}, closes after ${close} that do not${time}.`;
}

export function scheduleText(schedule: Watch['schedule']): string {
  if (!schedule) return 'Always';
  const spans = schedule.active.map(({ days, from, to }) =>
    [...(days.length === 7 ? [] : [days.join(', ')]), `${from}–${to}`].join(' '),
  );
  return `${spans.join('; ')} (${schedule.time_zone})`;
}

/** Returns a precision with its 95 % interval, such as "80 % (49 % to 94 %)". */
export function precisionText(precision: number, interval: { from: number; to: number } | null): string {
  const range = interval ? ` (${percent(interval.from)} to ${percent(interval.to)})` : '';
  return `${percent(precision)}${range}`;
}
