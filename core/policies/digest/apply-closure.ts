import { recordModelCall } from '../job/record-outcome.ts';
import { gapsWithin } from '../job/coverage.ts';
import type { NewEvent } from '../../records/event.ts';
import type { Counters, JobOf, JobSight } from '../../records/job.ts';
import type { Gap } from '../../records/sight.ts';
import { emptyWindow, type DigestEnd, type DigestState, type DigestWindow } from './records.ts';
import type { TickTimes } from '../job/outcome.ts';
import type { ClosureResult, SummaryResult, WindowSpan } from '../../records/window-closure.ts';

export type DigestSnapshot = { counters: Counters; sight: JobSight; state: DigestState };

/**
 * Applies a window closure: returns one summary event per window, in order, and the new state. A failed summary leaves
 * its windows open. A closed window stays closed. `now` is later than `times` by the call of the model.
 */
export function applyClosure(
  job: JobOf<'digest'>,
  { counters, sight, state: before }: DigestSnapshot,
  { closing, result, gridKey }: ClosureResult,
  { at, askedAt }: TickTimes,
  now: Date,
): DigestSnapshot & { events: NewEvent[] } {
  const digest = { ...before, end: closing.end };
  if (result.kind === 'missed') {
    return {
      counters: { ...counters, checks_missed: counters.checks_missed + 1 },
      sight: { ...sight, model_trouble: recordModelCall(job, result.failure, { at }, now) },
      state: digest,
      events: [],
    };
  }
  // Neither the wait for the model nor the time after the end is a gap.
  const knownAt = closing.end === null ? askedAt : new Date(closing.end.at);
  const spans = closing.spans.filter(({ index }) => index > digest.summarized);
  const events = spans.map((span) => {
    const window = digest.windows.find(({ index }) => index === span.index) ?? emptyWindow(span.index);
    return createSummaryEvent(span, window, gapsWithin(job, sight, span, knownAt), {
      result,
      gridKey,
      end: closing.end,
    });
  });
  const summarized = spans.at(-1)?.index ?? digest.summarized;
  const answered = result.kind === 'summarized';
  const { input_tokens: read, output_tokens: written } = answered ? result.summary.tokens : noTokens;
  return {
    counters: {
      ...counters,
      input_tokens: counters.input_tokens + read,
      output_tokens: counters.output_tokens + written,
    },
    sight: answered ? { ...sight, model_trouble: null } : sight,
    state: { ...digest, summarized, windows: digest.windows.filter(({ index }) => index > summarized) },
    events,
  };
}

const noTokens = { input_tokens: 0, output_tokens: 0 };

/**
 * Summary of the closure's one window with samples, the key of its frame grid (`null` without one), and the end of the
 * job with it.
 */
type Account = {
  result: Exclude<SummaryResult, { kind: 'missed' }>;
  gridKey: string | null;
  end: DigestEnd | null;
};

function createSummaryEvent(
  span: WindowSpan,
  window: DigestWindow,
  gaps: Gap[],
  { result, gridKey, end }: Account,
): NewEvent {
  const hasSamples = window.samples.length > 0;
  return {
    type: 'summary_generated',
    data: {
      window_index: span.index,
      window_start: span.start.toISOString(),
      window_end: span.end.toISOString(),
      partial: span.partial,
      summary: [hasSamples ? toAccount(window, result, end) : nothingNew(window), ...notSeen(gaps)].join(' '),
      frames_captured: window.frames_captured,
      frames_skipped: countSkipped(window),
      gaps,
      ...(hasSamples && gridKey !== null ? { frame_grid_key: gridKey } : {}),
    },
  };
}

function toAccount(window: DigestWindow, result: Account['result'], end: DigestEnd | null): string {
  if (result.kind === 'summarized') return result.summary.summary;
  const why = result.why ?? `${end?.failure?.message ?? 'The model was not asked'}.`;
  return `There is no summary of this window's ${pictures(window.frames_captured)}: ${why}`;
}

function nothingNew(window: DigestWindow): string {
  if (countSkipped(window) === 0) return 'No picture was taken in this window.';
  const { skipped } = window;
  const reasons = [
    reasonFor(skipped.no_motion, 'had nothing moving in it'),
    reasonFor(skipped.frozen, 'showed a frozen picture'),
    reasonFor(skipped.black, 'showed a black picture'),
    reasonFor(skipped.repeated, 'came from a segment seen before'),
  ].flat();
  return `Nothing new was seen in this window: of ${pictures(countSkipped(window))}, ${reasons.join(', ')}.`;
}

function reasonFor(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

function countSkipped({ skipped }: DigestWindow): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function pictures(count: number): string {
  return `${count} picture${count === 1 ? '' : 's'}`;
}

/** The event data contain all gaps; the text is for people. */
const maxGapsInSummary = 5;

const causes = {
  stream: 'it could not be reached',
  damaged: 'packets of it were lost',
  stale: 'it stood still',
  model: 'the model did not answer',
  service: 'the service was not watching',
} as const;

function notSeen(gaps: Gap[]): string[] {
  const listed = gaps
    .slice(0, maxGapsInSummary)
    .map(
      ({ from, to, reason }) =>
        `The stream was not seen from ${toTime(from)} to ${toTime(to)} UTC: ${causes[reason]}.`,
    );
  const more = gaps.length - listed.length;
  return more > 0 ? [...listed, `There were ${more} more such gaps.`] : listed;
}

function toTime(timestamp: string): string {
  return timestamp.slice(11, 19);
}
