import { gapsWithin } from '../tick/coverage.ts';
import type { NewEvent } from '../records/event.ts';
import type { Counters, DigestJob, TickState } from '../records/job.ts';
import type { ClosureResult } from '../records/window-closure.ts';
import { createSummaryEvent } from './summary-event.ts';
import { emptyWindow } from '../records/digest-state.ts';
import type { DigestState } from '../records/digest-state.ts';

export type DigestSnapshot = { counters: Counters; watch: TickState; digest: DigestState };

/**
 * Applies a window closure: returns one summary event per window, in order, and the new state. A failed summary leaves its windows
 * open. A closed window stays closed.
 */
export function applyClosure(
  job: DigestJob,
  { counters, watch, digest }: DigestSnapshot,
  { closing, result, gridKey }: ClosureResult,
  now: Date,
): DigestSnapshot & { events: NewEvent[] } {
  if (result.kind === 'missed') {
    return {
      counters: { ...counters, checks_missed: counters.checks_missed + 1 },
      watch: { ...watch, missed_in_a_row: watch.missed_in_a_row + 1 },
      digest,
      events: [],
    };
  }
  // The time after the end of the stream is no gap.
  const knownAt = digest.stream_ended_at === null ? now : new Date(digest.stream_ended_at);
  const spans = closing.spans.filter(({ index }) => index > digest.summarized);
  const events = spans.map((span) => {
    const window = digest.windows.find(({ index }) => index === span.index) ?? emptyWindow(span.index);
    return createSummaryEvent(span, window, gapsWithin(job, watch, span, knownAt), { result, gridKey });
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
    watch: answered ? { ...watch, missed_in_a_row: 0 } : watch,
    digest: { ...digest, summarized, windows: digest.windows.filter(({ index }) => index > summarized) },
    events,
  };
}

const noTokens = { input_tokens: 0, output_tokens: 0 };
