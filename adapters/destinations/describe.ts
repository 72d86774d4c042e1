import { withoutDisclosure } from '../../core/disclosure.ts';
import type { AlertOpened, Notification, NotifiedEvent } from '../../core/ports/delivery.ts';
import { severitySchema, type Severity } from '../../core/records/watch.ts';
import type { WatchChangeReason } from '../../core/records/watch-event.ts';
import { addSeconds, ageSeconds } from '../../core/time.ts';

/** Text of a notification for people, from which each format takes the parts that it has room for. */
export type Description = {
  /** One line: the watch, and what happened. */
  title: string;
  /** Explanation or reason; empty for events without one. */
  text: string;
  facts: [name: string, value: string][];
  /** `null` for events without a severity. */
  severity: Severity | null;
  /** True if the event opens or repeats an alert. */
  isOpen: boolean;
};

export type EvidenceFile = { filename: string; contentType: string; content: Uint8Array };

/**
 * Returns the picture of a notification, or its clip, as a file; undefined without one, or if it is larger than a
 * picture may be.
 */
export function findFile(
  { event, frame }: Pick<Notification, 'event' | 'frame'>,
  maxPictureBytes: number,
): EvidenceFile | undefined {
  if (frame === null) return undefined;
  if (event.type === 'alert_clip') return { filename: 'clip.mp4', contentType: 'video/mp4', content: frame };
  return frame.length > maxPictureBytes
    ? undefined
    : { filename: 'frame.jpg', contentType: 'image/jpeg', content: frame };
}

/** Returns the link to a clip that a message has no room for, if receivers reach it; `null` without one. */
export function findClipUrl({ event, frame, frameUrl, isPublic }: Notification): string | null {
  return event.type === 'alert_clip' && frame === null && isPublic ? frameUrl : null;
}

/** Part of a description that depends on the kind of event. */
type Part = Pick<Description, 'title' | 'text' | 'facts'> & Partial<Description>;

type AlertEvent = Extract<NotifiedEvent, { data: { alert_id: string } }>;

export function describeNotification(notification: Notification): Description {
  const { watchName, labels, event, isPictureRefused } = notification;
  const { title, facts, ...part } = describeEvent(event, notification);
  const more: Part['facts'] = [
    ...factIf('Labels', labels.length === 0 ? undefined : labels.join(', ')),
    ...factIf(
      event.type === 'alert_clip' ? 'Clip' : 'Picture',
      findClipUrl(notification) ?? (isPictureRefused && 'not accepted here, see the console'),
    ),
  ];
  return {
    severity: 'severity' in event.data ? event.data.severity : null,
    isOpen: false,
    ...part,
    title: `${watchName}: ${title}`,
    facts: [...facts, ...more],
  };
}

function describeEvent(event: NotifiedEvent, notification: Notification): Part {
  const { timeZone, timestamp } = notification;
  const time = (name: string, date: string): [string, string] => [name, formatTime(date, timeZone)];
  const { joined = [] } = notification;
  if (event.type === 'alert_opened' && joined.length > 0)
    return describeBurst([event, ...joined], notification);
  switch (event.type) {
    case 'stream_lost':
    case 'stream_recovered':
      return describeStream(event, time('Time', timestamp));
    case 'watch_changed':
      return describeChange(event.data, time('Time', timestamp));
    case 'heartbeat':
      return { title: 'all is well', text: '', facts: [] };
    case 'test':
      return {
        title: 'test alert',
        text: event.data.message,
        facts: [time('Time', timestamp)],
        severity: 'info',
      };
    default:
      return describeAlert(event, notification);
  }
}

function describeAlert({ type, data }: AlertEvent, { timeZone, model }: Notification): Part {
  const condition = asSentence(data.condition);
  const opened: [string, string] = ['Opened', formatTime(data.opened_at, timeZone)];
  const judged: [string, string][] = model === null ? [] : [['Model', model]];
  const severity: [string, string] = ['Severity', data.severity];
  const explanation = 'explanation' in data ? withoutDisclosure(data.explanation) : '';
  switch (type) {
    case 'alert_opened': {
      const { lost_seconds: lost } = data;
      const more = [
        ...(data.ended === true ? [describeSpan(data, timeZone)] : []),
        ...(lost === undefined ? [] : [`The stream gave no picture for ${formatDuration(lost)} before.`]),
      ];
      return {
        title: data.ended === true ? `${condition}${overByNow}` : condition,
        text: [more.length > 0 ? withStop(explanation) : explanation, ...more].join(' '),
        facts: [['Time', opened[1]], severity, ...judged],
        isOpen: true,
      };
    }
    case 'alert_reminder': {
      const facts: Part['facts'] = [['Open for', formatDuration(data.open_seconds)], opened, severity];
      const title = `still open: ${condition}`;
      return { title, text: explanation, facts: [...facts, ...judged], isOpen: true };
    }
    case 'alert_acknowledged':
      return { title: `acknowledged: ${condition}`, text: '', facts: [['With the key', data.by], opened] };
    case 'alert_clip':
      return {
        title: `clip: ${condition}`,
        text: data.reason ?? '',
        facts: [data.from, data.to].flatMap((date, index): Part['facts'] =>
          date === null ? [] : [[index === 0 ? 'From' : 'To', formatTime(date, timeZone, 'clock')]],
        ),
      };
    case 'alert_closed':
      return {
        title: `closed: ${condition}`,
        text: explanation,
        facts: [
          ['Reason', words(data.reason)],
          ['Seen for', formatDuration(data.seen_seconds)],
          ['Closed', formatTime(data.closed_at, timeZone)],
        ],
      };
  }
}

/** Describes several openings: how many, of what, and when. The explanation is that of the picture. */
function describeBurst(openings: readonly AlertOpened[], { timeZone, model }: Notification): Part {
  const [{ data: shown } = { data: undefined }] = openings;
  const inOrder = openings
    .map(({ data }) => data)
    .toSorted((one, other) => new Date(one.opened_at).getTime() - new Date(other.opened_at).getTime());
  const times = inOrder.map(({ opened_at: openedAt }) => openedAt);
  const [from = '', to = from] = [times[0], times.at(-1)];
  const conditions = [...new Set(inOrder.map(({ condition }) => asSentence(condition)))];
  const { options } = severitySchema;
  const severity = options.findLast((each) => inOrder.some((data) => data.severity === each)) ?? null;
  const within = formatDuration(ageSeconds(from, new Date(to)));
  const clocks = times.map((time) => formatTime(time, timeZone, 'clock'));
  const isOpen = inOrder.some(({ ended: isOver }) => isOver !== true);
  return {
    title: `${openings.length} ${conditions.length === 1 ? 'visits' : 'alerts'} within ${within}: ${conditions.join('; ')}${isOpen ? '' : overByNow}`,
    text: withoutDisclosure(shown?.explanation ?? ''),
    facts: [
      ['Times', `${clocks.slice(0, maxTimes).join(', ')}${clocks.length > maxTimes ? ' …' : ''}`],
      ['Last', formatTime(to, timeZone)],
      ...factIf('Severity', severity ?? undefined),
      ...factIf('Model', model ?? undefined),
    ],
    severity,
    isOpen,
  };
}

const overByNow = ' (over by now)';

/** Times of a burst that a message lists. */
const maxTimes = 12;

function withStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** States the times of a visit that was over when it was reported. */
function describeSpan(
  { opened_at: from, open_seconds: seconds = 0 }: { opened_at: string; open_seconds?: number | undefined },
  timeZone: string,
): string {
  const until = addSeconds(new Date(from), seconds).toISOString();
  const [begin, end] = [from, until].map((date) => formatTime(date, timeZone, 'clock'));
  return `It was there from ${begin} to ${end}.`;
}

function describeStream(
  { type, data }: Extract<NotifiedEvent, { type: 'stream_lost' | 'stream_recovered' }>,
  time: [string, string],
): Part {
  const lost: [string, string] = ['Lost for', formatDuration(data.lost_seconds)];
  if (type === 'stream_lost')
    return {
      title: 'the stream is lost',
      text: 'The watch sees nothing until the stream is back.',
      facts: [['Reason', words(data.reason)], lost, time],
      isOpen: true,
    };
  return {
    title: data.ended_by === undefined ? 'the stream is back' : 'the stream is no longer lost',
    text: describeEnd(data.ended_by),
    facts: [lost, time],
  };
}

function describeChange(
  data: Extract<NotifiedEvent, { type: 'watch_changed' }>['data'],
  time: [string, string],
): Part {
  const {
    destination_id: destination,
    error,
    late_seconds: late,
    ended_by: by,
    unsure_sightings: unsure,
  } = data;
  const [title = words(data.reason), text = `The watch is ${words(data.status)}.`] =
    failures[data.reason] ?? [];
  return {
    title: by === undefined ? title : `no longer: ${ended[data.reason] ?? title}`,
    text: (by === 'changed' && changedTexts[data.reason]) || describeEnd(by) || text,
    facts: [
      ...factIf('Destination', destination),
      ...factIf('Error', error),
      ...(unsure ?? []).map(({ condition, sightings }): [string, string] => [
        condition,
        `${sightings} unsure`,
      ]),
      ...factIf('Late by', late === undefined ? undefined : formatDuration(late)),
      time,
    ],
  };
}

/** Texts of troubles that a change ends. */
const changedTexts: Partial<Record<WatchChangeReason, string>> = {
  destination_recovered: 'The destination was removed.',
  view_restored: 'The regions were saved for another view, or the stream is another one.',
};

function factIf(name: string, value: string | undefined): Part['facts'] {
  return value === undefined ? [] : [[name, value]];
}

/** Titles and texts of failures and their ends; other changes are named by their reason. */
const failures: Partial<Record<WatchChangeReason, [title: string, text: string]>> = {
  budget_exhausted: ['the budget of the day is used up', 'Nothing is checked until the next day.'],
  budget_renewed: ['checks again with a new budget', 'The watch checks again.'],
  model_without_price: ['paused, because the model has no price', 'Nothing is checked until it is resumed.'],
  checks_late: ['checks are late', 'The service does not keep up, so the watch may miss what happens.'],
  checks_in_time: ['checks are in time again', 'The service keeps up again.'],
  destination_failed: ['a destination fails', 'It accepts no messages.'],
  destination_recovered: ['a destination works again', 'It accepts messages again.'],
  model_failed: ['the model fails', 'Nothing is judged until it answers again.'],
  model_recovered: ['the model answers again', 'Captures are judged again.'],
  view_changed: [
    'the camera shows another view',
    'The regions of the watch were drawn in another one, and may not fit: draw them again, or turn the camera back.',
  ],
  unsure_sightings: [
    'unsure sightings in a week',
    'In these checks a condition may have held, and no alert opened. Try the sensitivity high, or aim the camera lower.',
  ],
  view_restored: ['the camera shows its view again', 'The regions of the watch fit again.'],
};

/** Failures by their ends, for those that a change by a caller ends. */
const ended: Partial<Record<WatchChangeReason, string>> = {
  budget_renewed: 'a used-up budget',
  resumed: 'a model without a price',
  checks_in_time: 'late checks',
  destination_recovered: 'a failing destination',
  model_recovered: 'a failing model',
  view_restored: 'another view',
};

/**
 * Shortens a text to a number of UTF-16 units, without splitting a character. Replaces control characters by spaces.
 */
export function shorten(text: string, maxLength: number): string {
  const clean = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  if (clean.length <= maxLength) return clean;
  return `${clean.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the alert that the event belongs to; `null` if it belongs to the watch. */
export function findAlert(event: Notification['event']) {
  return 'alert_id' in event.data ? event.data : null;
}

/** Returns a condition as a sentence without its full stop. */
function asSentence(condition: string): string {
  const [first = '', ...rest] = condition.trim().replace(/\.$/, '');
  return first.toUpperCase() + rest.join('');
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Describes why a lost stream ends without being back; empty if it is. */
function describeEnd(by: Extract<NotifiedEvent, { type: 'stream_recovered' }>['data']['ended_by']): string {
  if (by === undefined) return '';
  return `The watch was ${by}.`;
}

/**
 * Formats a time for people, in a time zone that it names: `Sun, 1 Mar 2026, 13:00:00 (Europe/Berlin)`; `clock`:
 * `13:00:00`.
 */
function formatTime(date: string, timeZone: string, style: 'full' | 'clock' = 'full'): string {
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const day = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const parts = style === 'clock' ? clock : { ...day, ...clock };
  const text = new Intl.DateTimeFormat('en-GB', { timeZone, ...parts }).format(new Date(date));
  return style === 'clock' ? text : `${text} (${timeZone})`;
}

/** Formats a duration in its two largest units: `2 h 5 min`. */
function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ].filter(([count]) => count !== 0);
  const shown = parts.slice(0, 2).map((part) => part.join(' '));
  return shown.length === 0 ? '0 s' : shown.join(' ');
}
