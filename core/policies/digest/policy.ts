import { atTick } from '../../sight/clock-change.ts';
import { mapJobTimes } from '../job/map-times.ts';
import { screenCapture } from '../job/screen-capture.ts';
import type { JobOf } from '../../records/job.ts';
import type { JobDecisions } from '../job/policy.ts';
import { applyClosure } from './apply-closure.ts';
import { decideDigestTick } from './decide-tick.ts';
import { digestRequestSchema, planDigest } from './create.ts';
import { planFinalClosure, planTickClosure } from './window-closure.ts';

/** Samples of fresh captures, and a summary of each window. */
export const digestDecisions: JobDecisions<JobOf<'digest'>> = {
  planAgain: (request, deps) => planDigest(digestRequestSchema.parse(request), deps),
  work: (stored, output, time) => {
    const { run: job, now } = atTick(stored, time, mapJobTimes);
    const screening = screenCapture(job, output, now);
    if (screening.kind !== 'fresh') return { kind: 'seen', seen: screening };
    return { kind: 'seen', seen: { kind: 'sampled', captured: screening.captured } };
  },
  windows: (job, outcome, now) => {
    const closing = planTickClosure(job, outcome, now);
    return closing && { job, closing };
  },
  decide: decideDigestTick,
  lastWindows: (job, { reason, failure }, now) => {
    const endAt = job.state.end?.at ?? now.toISOString();
    return { job, closing: planFinalClosure(job, job.state, { at: endAt, reason, failure }) };
  },
  finish: (job, { at, closed }, now) => {
    if (!closed) return undefined;
    const { events, ...set } = applyClosure(job, job, closed, { at, askedAt: at }, now);
    return { set, events, complete: closed.closing.last };
  },
  pictures: ({ state }) =>
    state.windows.flatMap(({ samples }) => samples.map(({ frame_key: key }) => ({ key, isEvidence: false }))),
};
