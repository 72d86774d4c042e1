import type { JobOf } from '../../records/job.ts';
import type { Run } from '../../records/run.ts';
import { atTick } from '../../sight/clock-change.ts';
import { mapJobTimes } from '../../tick/clock-change.ts';
import { screenCapture } from '../../tick/screen-capture.ts';
import type { TickOutcome } from '../../tick/tick-outcome.ts';
import type { JobSettings } from '../job-policy.ts';
import { jobPolicy, planJobTick, toOutcome } from '../job-policy.ts';
import type { Policy } from '../policy.ts';
import { decideDigestTick } from './after-tick.ts';
import { planTickClosure } from './window-closure.ts';

/** Samples of fresh captures, and a summary of each window. */
export function createDigestPolicy(settings: JobSettings): Policy<JobOf<'digest'>, TickOutcome> {
  return {
    ...jobPolicy,
    owns: (run: Run): run is JobOf<'digest'> => run.policy === 'digest',
    work: (stored, output, at) => {
      const { run: job, now } = atTick(stored, at, mapJobTimes);
      const screening = screenCapture(job, output, now);
      if (screening.kind !== 'fresh') return { kind: 'seen', seen: screening };
      return { kind: 'seen', seen: { kind: 'sampled', captured: screening.captured } };
    },
    windows: (stored, tick, at) => {
      const { run: job, now } = atTick(stored, at, mapJobTimes);
      const closing = planTickClosure(job, toOutcome(stored, tick), now);
      return closing && { job, closing };
    },
    decide: (stored, tick, now) => planJobTick(stored, tick, now, settings, decideDigestTick),
    pictures: ({ sight: { last_frame: last }, state }) => [
      ...(last ? [{ key: last.key, isEvidence: last.evidence }] : []),
      ...state.windows.flatMap(({ samples }) =>
        samples.map(({ frame_key: key }) => ({ key, isEvidence: false })),
      ),
    ],
    evidence: () => [],
  };
}
