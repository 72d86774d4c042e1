import type {
  DestinationType,
  InputMode,
  Notify,
  Severity,
  Watch,
  WatchCondition,
  WatchPatch,
  WatchRequest,
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
  includeClip: boolean;
  /** Access token of ntfy, or of a bot of Telegram; empty for none, or for the stored one of a stored destination. */
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
  {
    type: 'ntfy',
    label: 'ntfy',
    field: 'url',
    notify: 'openings',
    hint: 'URL of a topic, such as https://ntfy.sh/…',
  },
  {
    type: 'telegram',
    label: 'Telegram',
    field: 'to',
    notify: 'openings',
    hint: 'Chat id, as -1001234567890, or @name of a channel',
  },
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
    hint: 'Recipient',
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
  return {
    type,
    address: '',
    minSeverity: 'info',
    notify,
    includeFrame: false,
    includeClip: true,
    token: '',
  };
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
  /** Days for which judged pictures are kept; `null` for the default of the service. */
  memoryDays: number | null;
  /** Seconds of a clip; `null` for the default of the service, 0 and 0 for none. */
  clipBefore: number | null;
  clipAfter: number | null;
  scene: boolean;
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
  open_after_seconds: 0,
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

/** Form state of a new watch, with the defaults of the API. */
export const emptyWatchDraft: WatchDraft = {
  name: '',
  streamUrl: '',
  intervalSeconds: 10,
  mode: 'frames',
  clipSeconds: 3,
  confirmSeconds: 2,
  prefilter: true,
  lookBack: true,
  follow: false,
  retentionDays: 7,
  memoryDays: null,
  clipBefore: null,
  clipAfter: null,
  scene: true,
  conditions: [newCondition],
  schedule: null,
  modelCalls: null,
  usd: null,
  destinations: [],
  regions: [],
  labels: '',
};

/**
 * Returns the form state of a second watch like `watch`: without what belongs to its camera, and with the stream only
 * if its password is not masked.
 */
export function toDuplicate(watch: Watch): WatchDraft {
  const { stream_url: url, conditions } = watch;
  return {
    ...toWatchDraft(watch),
    name: '',
    streamUrl: url.includes('***') ? '' : url,
    conditions: conditions.map((each) => {
      const { condition_id: _, ...condition } = each;
      return condition;
    }),
    destinations: [],
    regions: [],
  };
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
    memoryDays: watch.memory_days,
    clipBefore: watch.evidence_clip?.before_seconds ?? 0,
    clipAfter: watch.evidence_clip?.after_seconds ?? 0,
    scene: watch.scene,
    conditions: watch.conditions,
    schedule: watch.schedule && { timeZone: watch.schedule.time_zone, spans: watch.schedule.active },
    modelCalls: watch.budget?.model_calls_per_day ?? null,
    usd: watch.budget?.usd_per_day ?? null,
    destinations: watch.destinations.map(
      ({ url_masked, min_severity, include_frame, include_clip, ...destination }) => ({
        destination_id: destination.destination_id,
        type: destination.type,
        address: url_masked,
        minSeverity: min_severity,
        notify: destination.notify,
        includeFrame: include_frame,
        includeClip: include_clip,
        token: '',
      }),
    ),
    regions: toRegionDrafts(watch.regions),
    labels: watch.labels.join('\n'),
  };
}

/** Returns the request that creates a watch of this form state. */
export function toWatchRequest(draft: WatchDraft): WatchRequest {
  return {
    name: draft.name.trim(),
    stream_url: draft.streamUrl.trim(),
    // An emptied field is absent, so that the service decides its default.
    ...(draft.intervalSeconds !== null && { interval_seconds: draft.intervalSeconds }),
    ...(draft.clipSeconds !== null && { clip_duration_seconds: draft.clipSeconds }),
    ...(draft.confirmSeconds !== null && { confirm_seconds: draft.confirmSeconds }),
    ...(draft.retentionDays !== null && { retention_days: draft.retentionDays }),
    input_mode: draft.mode,
    enable_prefilter: draft.prefilter,
    look_back: draft.lookBack,
    follow: draft.follow,
    memory_days: draft.memoryDays,
    ...toClip(draft),
    scene: draft.scene,
    conditions: draft.conditions.map((each) => ({ ...each, condition: each.condition.trim() })),
    schedule: draft.schedule && { time_zone: draft.schedule.timeZone.trim(), active: draft.schedule.spans },
    budget: toBudget(draft),
    destinations: draft.destinations.map(toDestination),
    regions: toRegions(draft.regions),
    labels: draft.labels.split('\n').flatMap((label) => label.trim() || []),
  };
}

function toClip({ clipBefore: before, clipAfter: after }: WatchDraft): Pick<WatchRequest, 'evidence_clip'> {
  if (before === null && after === null) return {};
  if (before === 0 && after === 0) return { evidence_clip: null };
  return { evidence_clip: { before_seconds: before ?? 8, after_seconds: after ?? 8 } };
}

/**
 * Returns the merge patch from one form state to another: only changed fields. Another text is another condition, with
 * an id, statistics and topics of its own.
 */
export function toWatchPatch(before: WatchDraft, after: WatchDraft): WatchPatch {
  const old = new Map<string, unknown>(Object.entries(toWatchRequest(before)));
  const texts = new Map(before.conditions.map(({ condition_id: id, condition }) => [id, condition]));
  const conditions = after.conditions.map((each) => {
    const { condition_id: id, ...reworded } = each;
    return texts.get(id) === each.condition.trim() ? each : reworded;
  });
  const wanted = new Map<string, unknown>(Object.entries(toWatchRequest({ ...after, conditions })));
  const changed = [...new Set([...old.keys(), ...wanted.keys()])]
    .map((field) => [field, wanted.get(field) ?? null] as const)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(old.get(field) ?? null));
  return Object.fromEntries(changed);
}

function toBudget({ modelCalls, usd }: WatchDraft): NonNullable<WatchPatch['budget']> | null {
  return modelCalls === null && usd === null ? null : { model_calls_per_day: modelCalls, usd_per_day: usd };
}

/** Types with a token beside the address, and what it is. */
export const tokenTypes = new Map<DestinationType, string>([
  ['ntfy', 'Access token'],
  ['telegram', 'Bot token'],
]);

export function addressField(type: DestinationType) {
  return destinationTypes.find((each) => each.type === type)?.field ?? 'url';
}

function toDestination(destination: DestinationDraft) {
  const { destination_id: id, type, address, minSeverity, notify, token } = destination;
  return {
    ...(id !== undefined && { destination_id: id }),
    type,
    [addressField(type)]: address.trim(),
    min_severity: minSeverity,
    notify,
    ...(type === 'webhook' && { include_frame: destination.includeFrame }),
    ...(!destination.includeClip && { include_clip: false }),
    ...(tokenTypes.has(type) && token.trim() !== '' && { token: token.trim() }),
  };
}
