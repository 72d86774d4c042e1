import type { Watch } from '../api/types.ts';
import { pluralize } from '../parts/pluralize.ts';
import { duration } from '../time/format.ts';

/** Returns the configuration of a watch as pairs of name and text. */
export function watchConfigLabels(watch: Watch): [string, string][] {
  return [
    ['Interval', duration(watch.interval_seconds)],
    ['Confirming check', `after ${duration(watch.confirm_seconds)}`],
    ['Input', watch.input_mode],
    ['Motion pre-filter', watch.enable_prefilter ? 'on' : 'off'],
    ['Between checks', watch.look_back ? (watch.follow ? 'scanned and followed' : 'scanned') : 'not scanned'],
    ['Schedule', scheduleText(watch.schedule)],
    ['Budget of a day', budgetText(watch.budget)],
    ['Destinations', destinationsText(watch.destinations)],
    ['Regions', regionsText(watch.regions)],
    ['Retention', pluralize(watch.retention_days, 'day')],
    ...(watch.labels.length > 0 ? [['Labels', watch.labels.join(', ')] satisfies [string, string]] : []),
  ];
}

function scheduleText(schedule: Watch['schedule']): string {
  if (!schedule) return 'always';
  const spans = schedule.active.map(({ days, from, to }) => `${days.join(', ')} ${from}–${to}`);
  return `${spans.join('; ')} (${schedule.time_zone})`;
}

function budgetText(budget: Watch['budget']): string {
  if (!budget) return 'no limit';
  const { model_calls_per_day: calls, usd_per_day: usd } = budget;
  const limits = [
    ...(calls === null ? [] : [pluralize(calls, 'model call')]),
    ...(usd === null ? [] : [`$${usd}`]),
  ];
  return limits.join(', ');
}

function regionsText(regions: Watch['regions']): string {
  if (!regions) return 'the whole frame';
  const count = (mode: 'include' | 'exclude') => regions.filter((region) => region.mode === mode).length;
  return `${count('include')} watched, ${count('exclude')} hidden`;
}

function destinationsText(destinations: Watch['destinations']): string {
  if (destinations.length === 0) return 'none';
  return destinations.map(({ type, url_masked: url }) => `${type} ${url}`).join(', ');
}
