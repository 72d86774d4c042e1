import type { Notification, NotifiedEvent } from '../../core/ports/destinations.ts';
import type { Severity } from '../../core/records/watch.ts';

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

/** Describes a notification. */
export function describeNotification({ watchName, event, labels, timestamp }: Notification): Description {
  const shared = labels.length === 0 ? [] : [fact('Labels', labels.join(', '))];
  const at = (name: string, value: string) => [fact(name, value), ...shared];
  switch (event.type) {
    case 'alert_opened':
      return {
        title: `${watchName}: ${event.data.condition}`,
        text: event.data.explanation,
        facts: [fact('Severity', event.data.severity), ...at('Opened', event.data.opened_at)],
        severity: event.data.severity,
        isOpen: true,
      };
    case 'alert_reminder':
      return {
        title: `${watchName}: still open: ${event.data.condition}`,
        text: event.data.explanation,
        facts: [
          fact('Severity', event.data.severity),
          fact('Open for', duration(event.data.open_seconds)),
          ...at('Opened', event.data.opened_at),
        ],
        severity: event.data.severity,
        isOpen: true,
      };
    case 'alert_acknowledged':
      return {
        title: `${watchName}: acknowledged: ${event.data.condition}`,
        text: '',
        facts: [fact('By', event.data.by), ...at('Opened', event.data.opened_at)],
        severity: event.data.severity,
        isOpen: false,
      };
    case 'alert_closed':
      return {
        title: `${watchName}: closed: ${event.data.condition}`,
        text: event.data.explanation,
        facts: [
          fact('Reason', words(event.data.reason)),
          fact('Open for', duration(event.data.open_seconds)),
          ...at('Closed', event.data.closed_at),
        ],
        severity: event.data.severity,
        isOpen: false,
      };
    case 'stream_lost':
      return {
        title: `${watchName}: the stream is lost`,
        text: 'The watch sees nothing until the stream is back.',
        facts: [
          fact('Reason', words(event.data.reason)),
          fact('Lost for', duration(event.data.lost_seconds)),
          ...shared,
        ],
        severity: null,
        isOpen: true,
      };
    case 'stream_recovered':
      return {
        title:
          event.data.ended_by === undefined
            ? `${watchName}: the stream is back`
            : `${watchName}: the stream is no longer lost`,
        text: describeEnd(event.data.ended_by),
        facts: [fact('Lost for', duration(event.data.lost_seconds)), ...shared],
        severity: null,
        isOpen: false,
      };
    case 'watch_changed':
      return {
        title: `${watchName}: ${words(event.data.reason)}`,
        text: `The watch is ${words(event.data.status)}.`,
        facts: [
          ...(event.data.destination_id === undefined
            ? []
            : [fact('Destination', event.data.destination_id)]),
          ...(event.data.error === undefined ? [] : [fact('Error', event.data.error)]),
          ...(event.data.late_seconds === undefined
            ? []
            : [fact('Late by', duration(event.data.late_seconds))]),
          ...at('Changed', timestamp),
        ],
        severity: null,
        isOpen: false,
      };
    case 'heartbeat':
      return { title: `${watchName}: all is well`, text: '', facts: shared, severity: null, isOpen: false };
    case 'test':
      return {
        title: `${watchName}: test alert`,
        text: event.data.message,
        facts: at('Sent', timestamp),
        severity: 'info',
        isOpen: false,
      };
  }
}

/** Shortens a text to a number of UTF-16 units, without splitting a character. Replaces control characters by spaces. */
export function shorten(text: string, maxLength: number): string {
  const clean = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  if (clean.length <= maxLength) return clean;
  return `${clean.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the alert that the event belongs to; `null` if it belongs to the watch. */
export function findAlert(event: Notification['event']) {
  return 'alert_id' in event.data ? event.data : null;
}

function fact(name: string, value: string): [string, string] {
  return [name, value];
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Formats a duration in its two largest units: `2 h 5 min`. */
function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ].filter(([count]) => count !== 0);
  return parts.length === 0
    ? '0 s'
    : parts
        .slice(0, 2)
        .map((part) => part.join(' '))
        .join(' ');
}

/** Describes why a lost stream ends without being back; empty if it is. */
function describeEnd(by: Extract<NotifiedEvent, { type: 'stream_recovered' }>['data']['ended_by']): string {
  if (by === undefined) return '';
  return by === 'destination_changed'
    ? 'This destination was removed, or has another address.'
    : `The watch was ${by}.`;
}
