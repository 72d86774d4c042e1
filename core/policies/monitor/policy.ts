import type { JobOf } from '../../records/job.ts';
import type { Run } from '../../records/run.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import type { TickOutcome } from '../../tick/tick-outcome.ts';
import { judgeOne } from '../judge-one.ts';
import type { JobSettings } from '../job-policy.ts';
import { jobPolicy, planJobTick } from '../job-policy.ts';
import type { Policy } from '../policy.ts';
import { decideMonitorTick } from './after-tick.ts';

/** One question about each fresh capture; an alert for a verdict that holds. */
export function createMonitorPolicy(settings: JobSettings): Policy<JobOf<'monitor'>, TickOutcome> {
  return {
    ...jobPolicy,
    owns: (run: Run): run is JobOf<'monitor'> => run.policy === 'monitor',
    work: judgeOne,
    decide: (stored, tick, now) => planJobTick(stored, tick, now, settings, decideMonitorTick),
    pictures: ({ sight: { last_frame: last } }) =>
      last ? [{ key: last.key, isEvidence: last.evidence }] : [],
    evidence: (_, seen, { events }) => {
      if (seen.kind !== 'judged' || seen.verdict.shown_at_seconds === undefined) return [];
      const { frame_key, clip_key } = seen.captured;
      const atSeconds = seen.verdict.shown_at_seconds;
      const key = toShownKey(frame_key, atSeconds);
      return events.flatMap((event) =>
        event.type === 'watch_triggered' && event.data.frame_key === key
          ? [{ key, frame_key, clip_key, atSeconds }]
          : [],
      );
    },
  };
}
