import type { Alert } from '../api/types.ts';
import { routeUrls } from '../shell/routes.ts';

/**
 * Span of the filter as its inputs state it: a date and two times of day, such as `2026-11-27` and `20:00`; empty for
 * no bound.
 */
export type SpanDraft = { day: string; from: string; to: string };

/** Span of time; absent for no bound. */
export type TimeSpan = { from: Date; to: Date } | undefined;

/**
 * Returns the span in the time zone of the browser. Without a day it is the newest one that has begun at `now` (epoch
 * milliseconds). An end that is not after the start is on the next day.
 */
export function toSpan({ day, from, to }: SpanDraft, now: number): TimeSpan {
  if (day === '' && from === '' && to === '') return undefined;
  const date = day === '' ? new Date(now) : new Date(`${day}T00:00`);
  const start = atTime(date, from || '00:00');
  if (day === '' && start.getTime() > now) start.setDate(start.getDate() - 1);
  const end = atTime(start, to || '24:00');
  if (end <= start) end.setDate(end.getDate() + 1);
  return { from: start, to: end };
}

function atTime(date: Date, time: string): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const moment = new Date(date);
  moment.setHours(hours, minutes, 0, 0);
  return moment;
}

/** Filter of a list of alerts as its controls state it; an empty value filters nothing. */
export type AlertFilter = SpanDraft & { state: Alert['state'] | ''; watchId: string; conditionId: string };

/** States of the filter. */
export const states = [
  { value: '', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'closed', label: 'Closed' },
] as const;

/** Reads the filter of an address, as `#/alerts?state=open`; undefined without one. */
export function readFilter(hash: string): AlertFilter | undefined {
  const [, text] = hash.split('?');
  if (text === undefined) return undefined;
  const given = new URLSearchParams(text);
  const read = (name: keyof AlertFilter) => given.get(name) ?? '';
  const state = states.find(({ value }) => value === read('state'))?.value ?? '';
  const span = { day: read('day'), from: read('from'), to: read('to') };
  return { state, watchId: read('watchId'), conditionId: read('conditionId'), ...span };
}

export function writeFilter(filter: AlertFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== '');
  return given.length === 0
    ? routeUrls.alerts
    : `${routeUrls.alerts}?${new URLSearchParams(given).toString()}`;
}
