import type { JobOf } from '../../records/job.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import type { JobDecisions } from '../job/policy.ts';
import { judgeOne } from '../job/judge-one.ts';
import { decideMonitorTick } from './decide-tick.ts';
import { monitorRequestSchema, planMonitor } from './create.ts';

/** One question about each fresh capture; an alert for a verdict that holds. */
export const monitorDecisions: JobDecisions<JobOf<'monitor'>> = {
  planAgain: (request, deps) => planMonitor(monitorRequestSchema.parse(request), deps),
  work: judgeOne,
  decide: decideMonitorTick,
  evidence: (seen, { events }) => {
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
