import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema } from '../records/capture.ts';
import type { Region } from '../records/capture.ts';
import { createRegionMask } from '../records/region.ts';
import { sensitivitySchema } from '../records/vision.ts';
import {
  alertOnSchema,
  destinationTypeSchema,
  minConfirmSeconds,
  notifySchema,
  severitySchema,
  weekdaySchema,
} from '../records/watch.ts';
import type { DestinationType } from '../records/watch.ts';
import { maxMemoryDays } from '../records/moment.ts';
import { condition, flag, integer, streamUrl, text } from './fields.ts';

/** Bodies of `/watches`: fields, limits and defaults of a watch. */

/**
 * Returns a list schema. Cuts the list to one too many before it validates the elements, because it may have a million.
 */
function list<Element extends z.ZodType>(element: Element, minimum: number, maximum: number, what: string) {
  return z.preprocess(
    (value) => (Array.isArray(value) ? value.slice(0, maximum + 1) : value),
    z
      .array(element)
      .refine(
        ({ length }) => length >= minimum && length <= maximum,
        `${what} has ${minimum} to ${maximum} entries`,
      )
      .meta({ minItems: minimum, maxItems: maximum }),
  );
}

/** Returns the schema of a finite number with bounds. */
function number(minimum: number, maximum: number, message: string) {
  return z
    .custom<number>((value) => typeof value === 'number' && value >= minimum && value <= maximum, message)
    .meta({ type: 'number', minimum, maximum });
}

const slugPattern = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const slug = z
  .string()
  .refine((value) => slugPattern.test(value), 'an id has 1 to 40 lower-case letters, digits, - or _')
  .meta({ pattern: slugPattern.source });

const seconds = (minimum: number, maximum: number) => integer(z.int().min(minimum).max(maximum));

/** Numbers by which alerts close, by what they are about: those that a caller leaves out, or cannot set. */
const closings = {
  each_visit: { checks_to_close: 2, close_after_seconds: 4 },
  each_stay: { checks_to_close: 2, close_after_seconds: 30 },
  by_checks: { checks_to_close: 3, close_after_seconds: 0 },
} as const;

const conditionSchema = z
  .object({
    condition_id: slug.optional().describe('Unique in the watch; assigned if missing'),
    condition,
    checks_to_open: seconds(1, 10)
      .default(2)
      .describe('Verdicts of the last checks_considered that must hold to open'),
    checks_considered: seconds(1, 10).default(3).describe('Verdicts considered to open'),
    open_after_seconds: seconds(0, 86_400)
      .default(0)
      .describe(
        'Seconds for which it must have held before an alert opens; checks_to_close denials in a row restart them',
      ),
    alert_on: alertOnSchema
      .default('each_visit')
      .describe(
        'each_visit: an alert closes after 4 s or two frames without it, whichever is longer; each_stay: after close_after_seconds; by_checks (default with checks_to_close or close_after_seconds): by both',
      ),
    checks_to_close: seconds(1, 10)
      .default(closings.each_visit.checks_to_close)
      .describe('by_checks: consecutive verdicts that do not hold, after which the alert closes; default 3'),
    close_after_seconds: seconds(0, 3600)
      .default(closings.each_visit.close_after_seconds)
      .describe(
        'Seconds for which the condition must not have held before the alert closes; default 0, of each_stay 30',
      ),
    cooldown_seconds: seconds(0, 86_400).default(0).describe('Minimum seconds from one opening to the next'),
    remind_seconds: seconds(60, 86_400)
      .nullable()
      .default(null)
      .describe('Seconds between reminders of an open alert; null: none'),
    severity: severitySchema.default('warning'),
    sensitivity: sensitivitySchema
      .default('normal')
      .describe('high: objects count that the built-in object model is not sure of; other models ignore it'),
  })
  .refine((value) => value.checks_to_open <= value.checks_considered, {
    path: ['checks_to_open'],
    message: 'checks_to_open is at most checks_considered',
  })
  .check(({ value, issues }) => {
    const closing = closings[value.alert_on];
    const isRefused = {
      checks_to_close: value.alert_on !== 'by_checks',
      close_after_seconds: value.alert_on === 'each_visit',
    };
    for (const field of ['checks_to_close', 'close_after_seconds'] as const)
      if (isRefused[field] && value[field] !== closing[field])
        issues.push({
          code: 'custom',
          path: [field],
          message: `${value.alert_on} has its own ${field}: leave it out, or set alert_on to by_checks`,
          input: value[field],
        });
  });

apiNames.add(conditionSchema, { id: 'ConditionRequest' });

/** Completes the fields by which alerts close, before they are validated: who gives numbers alone has what they say. */
const conditionRequestSchema = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const given = new Map(Object.entries(value).filter(([, each]) => each !== undefined));
  const hasNumbers = given.has('checks_to_close') || given.has('close_after_seconds');
  const alertOn = alertOnSchema.safeParse(given.get('alert_on') ?? (hasNumbers ? 'by_checks' : 'each_visit'));
  return alertOn.success
    ? { alert_on: alertOn.data, ...closings[alertOn.data], ...Object.fromEntries(given) }
    : value;
}, conditionSchema);

const clockPattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const endPattern = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;

const spanRequestSchema = z
  .object({
    days: list(weekdaySchema, 1, 7, 'days').transform((days) => [...new Set(days)]),
    from: z
      .string()
      .refine((value) => clockPattern.test(value), 'use HH:MM, 00:00 to 23:59')
      .meta({ pattern: clockPattern.source }),
    to: z
      .string()
      .refine((value) => endPattern.test(value), 'use HH:MM, 00:00 to 24:00')
      .meta({ pattern: endPattern.source })
      .describe('End of the span; before from: on the next day'),
  })
  .refine(({ from, to }) => from !== to, {
    path: ['to'],
    message: 'to differs from from; a whole day is 00:00 to 24:00',
  });
apiNames.add(spanRequestSchema, { id: 'ActiveSpanRequest' });

const timeZone = text(1, 64)
  .refine(isTimeZone, 'use an IANA time zone, as Europe/Berlin')
  .describe('IANA time zone');

/** Returns true for an IANA name. Offsets are rejected: they have no daylight saving time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const activeSpans = list(spanRequestSchema, 1, 14, 'active').describe(
  'Spans of local time; others are off schedule',
);

const scheduleRequestSchema = z.object({ time_zone: timeZone, active: activeSpans });

const modelCalls = integer(z.int().min(1).max(1_000_000)).nullable();
const dollars = number(0.01, 10_000, 'usd_per_day is a number from 0.01 to 10000').nullable();

const budgetRequestSchema = z
  .object({
    model_calls_per_day: modelCalls.default(null),
    usd_per_day: dollars.default(null).describe('US dollars by the list price of the model'),
  })
  .refine((value) => value.model_calls_per_day !== null || value.usd_per_day !== null, {
    path: ['model_calls_per_day'],
    message: 'a budget has model_calls_per_day, usd_per_day or both',
  });

const address = text(1, 2083);

/** The address is optional here, because a change may omit it; `watchRequestSchema` requires it by type. */
const destinationRequestSchema = z.object({
  destination_id: slug.optional().describe('Unique in the watch; assigned if missing'),
  type: destinationTypeSchema,
  url: address
    .optional()
    .describe('Address, by type: a URL of http(s), or of mqtt(s). The masked value means unchanged.'),
  routing_key: text(1, 255).optional().describe('Integration key of PagerDuty Events v2'),
  token: text(1, 255).optional().describe('Access token of ntfy, or token of a bot of Telegram'),
  to: text(3, 320).optional().describe('Recipient of e-mail, or chat of Telegram: its id or @name'),
  notify: notifySchema
    .nullable()
    .default(null)
    .describe('Events that are delivered, besides failures; null: the default of the type'),
  min_severity: severitySchema
    .default('info')
    .describe('Minimum severity of the alerts whose openings are delivered'),
  include_frame: flag.default(false).describe('True to include the frame in events, as base64; webhook only'),
  include_clip: flag
    .default(true)
    .describe('False to leave out the clip of an alert, which is an event of its own'),
});
apiNames.add(destinationRequestSchema, { id: 'DestinationRequest' });
export type DestinationRequest = z.infer<typeof destinationRequestSchema>;

export const addressFields = {
  webhook: 'url',
  slack: 'url',
  discord: 'url',
  ntfy: 'url',
  telegram: 'to',
  pagerduty: 'routing_key',
  email: 'to',
  mqtt: 'url',
  heartbeat: 'url',
} as const satisfies Record<DestinationType, keyof DestinationRequest>;

const point = z
  .array(number(0, 1, 'a coordinate is a number from 0 to 1'))
  .refine(({ length }) => length === 2, 'a point is [x, y]')
  .meta({ minItems: 2, maxItems: 2 });

const regionRequestSchema = z.object({
  mode: z.enum(['include', 'exclude']).default('include'),
  points: list(point, 3, 32, 'points').describe('Corners [x, y], 0 to 1 from the top left'),
});
apiNames.add(regionRequestSchema, { id: 'RegionRequest' });

const name = text(1, 120).describe('Name for people');
const interval = seconds(5, 300).describe('Seconds between checks');
const inputMode = inputModeSchema.describe('Media to capture');
const clipDuration = seconds(1, 10).describe('Clip length in seconds; used by clip and hybrid');
const prefilter = flag.describe('True to skip captures without motion');
const lookBack = flag.describe(
  'True to scan all of the stream since the last check, and to judge the moments that differ',
);
const follow = flag.describe(
  'True to follow an HLS stream between checks, with the bandwidth of a player, so that motion causes a check; one machine only',
);
export const conditions = list(conditionRequestSchema, 1, 8, 'conditions').refine(
  (entries) => hasUnique(entries.map((entry) => entry.condition_id)),
  'condition_id is unique in the watch',
);
const confirm = seconds(minConfirmSeconds, 300).describe(
  'Delay of a confirming check in seconds; at most interval_seconds',
);
const destinations = list(destinationRequestSchema, 0, 5, 'destinations').refine(
  (entries) => hasUnique(entries.map((entry) => entry.destination_id)),
  'destination_id is unique in the watch',
);
/** Cells of the mask that must remain: 1 % of the frame. */
const grid = { width: 64, height: 36, minWatched: 23 };
const regions = list(regionRequestSchema, 1, 4, 'regions')
  .refine(
    (entries) => countWatched(entries) >= grid.minWatched,
    'regions leave less than 1 % of the frame to watch',
  )
  .nullable();

function countWatched(entries: readonly Region[]): number {
  return createRegionMask(entries, grid.width, grid.height).reduce((sum, cell) => sum + cell, 0);
}
const retention = seconds(1, 90).describe('Days for which alerts and evidence are kept');
const clipSeconds = seconds(0, 30).default(8);
const evidenceClip = z
  .object({
    before_seconds: clipSeconds.describe(
      'Least seconds before the opening: up to 30 if the visit began earlier. 0: from the opening',
    ),
    after_seconds: clipSeconds.describe('Seconds after it'),
  })
  .nullable()
  .describe('Film around the opening of each alert; null: none. Absent: the default of the service');
const memory = seconds(0, maxMemoryDays)
  .nullable()
  .describe(
    'Days for which each judged picture is kept, to be listed and searched; 0: none, null: the default of the service',
  );
const scene = flag.describe('True to have each kept picture described, whatever the conditions');
const labels = list(text(1, 64), 0, 8, 'labels').describe('Echoed in events; a filter of lists');

function hasUnique(ids: readonly (string | undefined)[]): boolean {
  const given = ids.filter((id) => id !== undefined);
  return new Set(given).size === given.length;
}

/** Body of `POST /watches`. */
export const watchRequestSchema = z
  .object({
    name,
    stream_url: streamUrl,
    interval_seconds: interval.default(10),
    input_mode: inputMode.default('frames'),
    clip_duration_seconds: clipDuration.default(3),
    enable_prefilter: prefilter.default(true),
    look_back: lookBack.default(true),
    follow: follow.default(false),
    conditions,
    confirm_seconds: confirm.default(2),
    schedule: scheduleRequestSchema.nullable().default(null).describe('null: always active'),
    budget: budgetRequestSchema.nullable().default(null).describe('null: no limit'),
    destinations: destinations.default([]),
    regions: regions.default(null).describe('null: the whole frame'),
    retention_days: retention.default(7),
    evidence_clip: evidenceClip.optional(),
    memory_days: memory.default(null),
    scene: scene.default(true),
    labels: labels.default([]),
  })
  .refine((value) => value.confirm_seconds <= value.interval_seconds, {
    path: ['confirm_seconds'],
    message: 'confirm_seconds is at most interval_seconds',
  })
  .check(({ value, issues }) => {
    for (const [index, destination] of value.destinations.entries()) {
      const { type, notify } = destination;
      const refuse = (field: string, message: string) =>
        issues.push({ code: 'custom', path: ['destinations', index, field], message, input: undefined });
      if (type === 'heartbeat' && notify !== null) refuse('notify', 'a heartbeat has no notify');
      if ((type === 'pagerduty' || type === 'mqtt') && notify === 'openings')
        refuse('notify', `a ${type} destination needs closings: an incident or state ends by them`);
      // Both become part of an address.
      if (type === 'telegram' && !/^\d{3,20}:[\w-]{20,100}$/.test(destination.token ?? ''))
        refuse('token', 'a telegram destination has the token of a bot, from @BotFather');
      if (type === 'telegram' && !/^(?:-?\d{3,20}|@\w{3,40})$/.test(destination.to ?? ''))
        refuse('to', 'a telegram destination has a chat: its id, as -1001234567890, or @name');
      const field = addressFields[type];
      if (type !== 'telegram' && destination[field] === undefined)
        refuse(field, `a ${type} destination has ${field}`);
    }
  });
apiNames.add(watchRequestSchema, { id: 'WatchRequest' });
export type WatchRequest = z.infer<typeof watchRequestSchema>;

/**
 * Body of `PATCH /watches/{watch_id}`: a merge patch (RFC 7396) of the watch. null restores a default; of
 * `evidence_clip` it means no clip.
 */
export const watchPatchSchema = z.object({
  name: name.optional(),
  stream_url: streamUrl.optional(),
  interval_seconds: interval.nullish(),
  input_mode: inputMode.nullish(),
  clip_duration_seconds: clipDuration.nullish(),
  enable_prefilter: prefilter.nullish(),
  look_back: lookBack.nullish(),
  follow: follow.nullish(),
  conditions: conditions.optional(),
  confirm_seconds: confirm.nullish(),
  schedule: z.object({ time_zone: timeZone.optional(), active: activeSpans.optional() }).nullish(),
  budget: z.object({ model_calls_per_day: modelCalls.optional(), usd_per_day: dollars.optional() }).nullish(),
  destinations: destinations.nullish(),
  regions: regions.optional(),
  retention_days: retention.nullish(),
  evidence_clip: evidenceClip.optional(),
  memory_days: memory.optional(),
  scene: scene.nullish(),
  labels: labels.nullish(),
});
apiNames.add(watchPatchSchema, { id: 'WatchPatch' });
export type WatchPatch = z.infer<typeof watchPatchSchema>;
