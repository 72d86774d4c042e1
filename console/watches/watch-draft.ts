import type {
  DestinationType,
  InputMode,
  Notify,
  Severity,
  Watch,
  WatchCondition,
  WatchPatch,
} from '../api/types.ts';
import { toRegionDrafts, toRegions } from './region-text.ts';
import type { RegionDraft } from './region-text.ts';

/** Condition in the form; a new one has no id yet. */
export type ConditionDraft = Omit<WatchCondition, 'condition_id'> & { condition_id?: string };
type AlertOn = NonNullable<WatchCondition['alert_on']>;

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Span = { days: (typeof weekdays)[number][]; from: string; to: string };
export type ScheduleDraft = { timeZone: string; spans: Span[] };

/** Destination in the form. The address of a stored one is masked. */
export type DestinationDraft = {
  destination_id?: string;
  type: DestinationType;
  address: string;
  minSeverity: Severity;
  /** `null` for a heartbeat. */
  notify: Notify | null;
  /** Webhook only. */
  includeFrame: boolean;
  /** Access token of ntfy; empty for none, or for the stored one of a stored destination. */
  token: string;
};

/** Types of destinations with the field of their address and the default of `notify`. */
export const destinationTypes = [
  {
    type: 'slack',
    label: 'Slack',
    field: 'url',
    notify: 'openings',
    hint: 'URL of an incoming webhook',
  },
  { type: 'discord', label: 'Discord', field: 'url', notify: 'openings', hint: 'URL of a webhook' },
  { type: 'ntfy', label: 'ntfy', field: 'url', notify: 'openings', hint: 'URL of a topic' },
  {
    type: 'pagerduty',
    label: 'PagerDuty',
    field: 'routing_key',
    notify: 'openings_and_closings',
    hint: 'Integration key of Events v2',
  },
  {
    type: 'email',
    label: 'E-mail',
    field: 'to',
    notify: 'openings',
    hint: 'Recipient, from the list of the operator',
  },
  {
    type: 'webhook',
    label: 'Webhook',
    field: 'url',
    notify: 'everything',
    hint: 'URL that receives signed events',
  },
  {
    type: 'mqtt',
    label: 'MQTT',
    field: 'url',
    notify: 'openings_and_closings',
    hint: 'mqtt:// or mqtts:// with user and password',
  },
  {
    type: 'heartbeat',
    label: 'Heartbeat',
    field: 'url',
    notify: null,
    hint: 'URL that is called while all is well',
  },
] as const;

/** Returns the form state of a destination that is added, or gets another type. */
export function newDestination(type: DestinationType): DestinationDraft {
  const notify = destinationTypes.find((each) => each.type === type)?.notify ?? null;
  return { type, address: '', minSeverity: 'info', notify, includeFrame: false, token: '' };
}

/** Values of `notify` of a type with their sentences. An incident or a retained state ends by its closing. */
export function notifyOptions(type: DestinationType): { value: Notify; label: string }[] {
  const endsBy = type === 'pagerduty' || type === 'mqtt';
  return [
    ...(endsBy ? [] : [{ value: 'openings' as const, label: 'When an alert opens, and as a reminder.' }]),
    { value: 'openings_and_closings', label: 'When an alert opens, is acknowledged and closes.' },
    { value: 'everything', label: 'Everything, also changes by hand and the hours of the schedule.' },
  ];
}

/** Form state of a watch's fields. `null` is an empty number field. */
export type WatchDraft = {
  name: string;
  /** Masked; unchanged unless another URL is entered. */
  streamUrl: string;
  intervalSeconds: number | null;
  mode: InputMode;
  clipSeconds: number | null;
  confirmSeconds: number | null;
  prefilter: boolean;
  lookBack: boolean;
  follow: boolean;
  retentionDays: number | null;
  conditions: ConditionDraft[];
  schedule: ScheduleDraft | null;
  /** Limits per day. */
  modelCalls: number | null;
  usd: number | null;
  destinations: DestinationDraft[];
  regions: RegionDraft[];
  /** One per line. */
  labels: string;
};

/** Condition that the form adds, with the defaults of the API. */
export const newCondition: ConditionDraft = {
  condition: '',
  checks_to_open: 2,
  checks_considered: 3,
  ...closingOf('each_visit'),
  cooldown_seconds: 0,
  remind_seconds: null,
  severity: 'warning',
  sensitivity: 'normal',
};

/** Returns the numbers with which a choice begins, as the API has them. */
export function closingOf(
  alertOn: AlertOn,
): Required<Pick<WatchCondition, 'alert_on' | 'checks_to_close' | 'close_after_seconds'>> {
  const [checks, seconds] = { each_visit: [2, 4], each_stay: [2, 30], by_checks: [3, 0] }[alertOn];
  return { alert_on: alertOn, checks_to_close: checks ?? 3, close_after_seconds: seconds ?? 0 };
}

/** Returns the form state of a watch. */
export function toWatchDraft(watch: Watch): WatchDraft {
  return {
    name: watch.name,
    streamUrl: watch.stream_url,
    intervalSeconds: watch.interval_seconds,
    mode: watch.input_mode,
    clipSeconds: watch.clip_duration_seconds,
    confirmSeconds: watch.confirm_seconds,
    prefilter: watch.enable_prefilter,
    lookBack: watch.look_back,
    follow: watch.follow,
    retentionDays: watch.retention_days,
    conditions: watch.conditions,
    schedule: watch.schedule && { timeZone: watch.schedule.time_zone, spans: watch.schedule.active },
    modelCalls: watch.budget?.model_calls_per_day ?? null,
    usd: watch.budget?.usd_per_day ?? null,
    destinations: watch.destinations.map(
      ({ destination_id, type, url_masked: address, min_severity: minSeverity, notify, include_frame }) => ({
        destination_id,
        type,
        address,
        minSeverity,
        notify,
        includeFrame: include_frame,
        token: '',
      }),
    ),
    regions: toRegionDrafts(watch.regions),
    labels: watch.labels.join('\n'),
  };
}

/** Returns the merge patch from one form state to another: only changed fields. */
export function toWatchPatch(before: WatchDraft, after: WatchDraft): WatchPatch {
  const changed = (...fields: (keyof WatchDraft)[]) =>
    fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return {
    ...(changed('name') && { name: after.name.trim() }),
    ...(changed('streamUrl') && { stream_url: after.streamUrl.trim() }),
    ...(changed('intervalSeconds') && { interval_seconds: after.intervalSeconds }),
    ...(changed('mode') && { input_mode: after.mode }),
    ...(changed('clipSeconds') && { clip_duration_seconds: after.clipSeconds }),
    ...(changed('confirmSeconds') && { confirm_seconds: after.confirmSeconds }),
    ...(changed('prefilter') && { enable_prefilter: after.prefilter }),
    ...(changed('lookBack') && { look_back: after.lookBack }),
    ...(changed('follow') && { follow: after.follow }),
    ...(changed('retentionDays') && { retention_days: after.retentionDays }),
    ...(changed('conditions') && {
      conditions: after.conditions.map((each) => ({ ...each, condition: each.condition.trim() })),
    }),
    ...(changed('schedule') && {
      schedule: after.schedule && { time_zone: after.schedule.timeZone.trim(), active: after.schedule.spans },
    }),
    ...(changed('modelCalls', 'usd') && { budget: toBudget(after) }),
    ...(changed('destinations') && { destinations: after.destinations.map(toDestination) }),
    ...(changed('regions') && { regions: toRegions(after.regions) }),
    ...(changed('labels') && { labels: after.labels.split('\n').flatMap((label) => label.trim() || []) }),
  };
}

function toBudget({ modelCalls, usd }: WatchDraft): NonNullable<WatchPatch['budget']> | null {
  return modelCalls === null && usd === null ? null : { model_calls_per_day: modelCalls, usd_per_day: usd };
}

function toDestination(destination: DestinationDraft) {
  const { destination_id: id, type, address, minSeverity, notify, includeFrame, token } = destination;
  const field = destinationTypes.find((each) => each.type === type)?.field ?? 'url';
  return {
    ...(id !== undefined && { destination_id: id }),
    type,
    [field]: address.trim(),
    min_severity: minSeverity,
    notify,
    ...(type === 'webhook' && { include_frame: includeFrame }),
    ...(type === 'ntfy' && token.trim() !== '' && { token: token.trim() }),
  };
}
