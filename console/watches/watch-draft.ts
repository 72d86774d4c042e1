import { conditionRequestDefaults, watchRequestDefaults } from '../../client/openapi-types.ts';
import type {
  DestinationType,
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
export type ScheduleDraft = NonNullable<Watch['schedule']>;

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

/** Fields of a form with one value, by their names in the API; an emptied number is null. */
export type Emptied<Values> = {
  [Name in keyof Values]: Values[Name] | (number extends Values[Name] ? null : never);
};

/** Form state of a watch's fields. The URL of the stream is masked, and unchanged unless another one is entered. */
export type WatchDraft = Emptied<typeof watchRequestDefaults> & {
  conditions: ConditionDraft[];
  schedule: ScheduleDraft | null;
  budget: Emptied<Required<NonNullable<Watch['budget']>>>;
  /** `null` for the default of the service, 0 and 0 for no clip. */
  evidence_clip: Emptied<NonNullable<Watch['evidence_clip']>>;
  destinations: DestinationDraft[];
  regions: RegionDraft[];
  /** One per line. */
  labels: string;
};

/** Returns the numbers with which a choice begins, as the API has them. */
export function closingOf(
  alertOn: AlertOn,
): Required<Pick<WatchCondition, 'alert_on' | 'checks_to_close' | 'close_after_seconds'>> {
  const [checks, seconds] = { each_visit: [2, 4], each_stay: [2, 30], by_checks: [3, 0] }[alertOn];
  return { alert_on: alertOn, checks_to_close: checks ?? 3, close_after_seconds: seconds ?? 0 };
}

const noLimit = { model_calls_per_day: null, usd_per_day: null };

/** Form state of a new watch, with the defaults of the API. */
export const emptyWatchDraft: WatchDraft = {
  ...watchRequestDefaults,
  conditions: [conditionRequestDefaults],
  schedule: null,
  budget: noLimit,
  evidence_clip: { before_seconds: null, after_seconds: null },
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
    stream_url: url.includes('***') ? '' : url,
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
  const values = Object.entries({ ...watch }).filter(([field]) => field in watchRequestDefaults);
  return {
    ...watchRequestDefaults,
    ...Object.fromEntries(values),
    conditions: watch.conditions,
    schedule: watch.schedule,
    budget: { ...noLimit, ...watch.budget },
    evidence_clip: watch.evidence_clip ?? { before_seconds: 0, after_seconds: 0 },
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

/** Returns the request that creates a watch of this form state. Emptied fields are absent: the service has defaults. */
export function toWatchRequest(draft: WatchDraft): WatchRequest {
  const {
    conditions,
    schedule,
    budget,
    evidence_clip: clip,
    destinations,
    regions,
    labels,
    ...values
  } = draft;
  const isDefault = Object.values(clip).every((seconds) => seconds === null);
  const isNone = Object.values(clip).every((seconds) => seconds === 0);
  return {
    ...withoutEmpty(values),
    name: draft.name.trim(),
    stream_url: draft.stream_url.trim(),
    ...(!isDefault && { evidence_clip: isNone ? null : withoutEmpty(clip) }),
    conditions: conditions.map((each) => ({ ...each, condition: each.condition.trim() })),
    schedule: schedule && { ...schedule, time_zone: schedule.time_zone.trim() },
    budget: Object.values(budget).some((limit) => limit !== null) ? budget : null,
    destinations: destinations.map(toDestination),
    regions: toRegions(regions),
    labels: labels.split('\n').flatMap((label) => label.trim() || []),
  };
}

function withoutEmpty(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/**
 * Returns the merge patch from one form state to another: only changed fields. Another text is another condition, with
 * an id, statistics and topics of its own.
 */
export function toWatchPatch(before: WatchDraft, after: WatchDraft): WatchPatch {
  const old = toValues(before);
  const texts = new Map(before.conditions.map(({ condition_id: id, condition }) => [id, condition]));
  const conditions = after.conditions.map((each) => {
    const { condition_id: id, ...reworded } = each;
    return texts.get(id) === each.condition.trim() ? each : reworded;
  });
  const wanted = toValues({ ...after, conditions });
  const changed = [...new Set([...old.keys(), ...wanted.keys()])]
    .map((field) => [field, wanted.get(field) ?? null] as const)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(old.get(field) ?? null));
  return Object.fromEntries(changed);
}

/** Returns the values of a request by field. An emptied clip has the numbers of the schema: null is no clip. */
function toValues(draft: WatchDraft): Map<string, unknown> {
  return new Map(Object.entries({ evidence_clip: {}, ...toWatchRequest(draft) }));
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
