import { watchRequestDefaults } from '../../client/openapi-types.ts';
import { duration, pluralize } from '../time/format.ts';
import { rulesText, scheduleText } from './watch-labels.ts';
import type { WatchDraft } from './watch-draft.ts';

/** Returns a line for each folded part of the form of a watch. */
export function summarizeFolds(draft: WatchDraft) {
  return { rules: summarizeRules(draft), when: when(draft), cost: cost(draft), picture: picture(draft) };
}

/** Describes when alerts of conditions open and close. */
export function summarizeRules({ conditions }: Pick<WatchDraft, 'conditions'>): string {
  const texts = conditions.map((each) => `${rulesText(each)} Severity ${each.severity}.`);
  return [...new Set(texts)].join(' ');
}

function when({ schedule }: WatchDraft): string {
  return scheduleText(schedule);
}

function cost({ interval_seconds: interval, budget, retention_days: retention }: WatchDraft): string {
  const { model_calls_per_day: modelCalls, usd_per_day: usd } = budget;
  const limits = [
    ...(modelCalls === null ? [] : [`at most ${pluralize(modelCalls, 'model call')} per day`]),
    ...(usd === null ? [] : [`at most $${usd} per day`]),
  ];
  const parts = [
    `A check every ${duration(interval ?? watchRequestDefaults.interval_seconds)}`,
    ...(limits.length === 0 ? ['no limit per day'] : limits),
    `alerts are kept for ${pluralize(retention ?? watchRequestDefaults.retention_days, 'day')}`,
  ];
  return parts.join(', ');
}

const modes = { frames: 'One frame', clip: 'A clip', hybrid: 'A frame and a clip' };

function picture({ input_mode: mode, regions, look_back: looksBack }: WatchDraft): string {
  const parts = [
    modes[mode],
    regions.length === 0 ? 'all of the picture, no region' : pluralize(regions.length, 'region'),
    looksBack ? 'also the time between checks' : 'not the time between checks',
  ];
  return parts.join(', ');
}
