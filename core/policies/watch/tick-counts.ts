import type { CallerUse } from '../../records/caller-use.ts';
import type { WatchCounts } from '../../records/watch-state.ts';
import { toHour } from './hourly-counts.ts';
import type { HourlyCounts } from './hourly-counts.ts';
import type { WatchOutcome } from './outcome.ts';

/** Numbers of alerts that a tick opened, closed and repeated. */
export type AlertCounts = { opened: number; closed: number; reminders: number };

/** Returns the counts of a tick, in the hour of its commit. */
export function countTick(
  outcome: WatchOutcome,
  { opened, closed, reminders }: AlertCounts,
  now: Date,
): HourlyCounts[] {
  const counts: Partial<WatchCounts> = {
    ticks: 1,
    alerts_opened: opened,
    alerts_closed: closed,
    reminders,
    ...outcomeCounts(outcome),
  };
  return [{ hour: toHour(now), counts }];
}

function outcomeCounts(outcome: WatchOutcome): Partial<WatchCounts> {
  switch (outcome.kind) {
    case 'judged': {
      const { used } = outcome;
      const answers = [...outcome.earlier.flatMap((moment) => moment.answers), ...outcome.answers];
      const verdicts = answers.filter(({ verdict }) => verdict !== null).length;
      return {
        verdicts,
        not_judged: answers.length - verdicts,
        checks: verdicts > 0 ? 1 : 0,
        ...countUse(used),
      };
    }
    case 'skipped':
      return {
        skipped: 1,
        frozen: outcome.why === 'frozen' ? 1 : 0,
        black: outcome.why === 'black' ? 1 : 0,
      };
    case 'stale':
      return { stale: 1 };
    case 'capture_failed':
    case 'unavailable':
      return { failed_captures: 1 };
    case 'no_capture':
      return outcome.used ? countUse(outcome.used) : {};
    case 'ended':
    case 'not_asked':
      return {};
  }
}

function countUse(used: CallerUse): Partial<WatchCounts> {
  const { model_errors: model_failures, ...others } = used;
  return { model_failures, ...others };
}
