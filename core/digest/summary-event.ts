import type { NewEvent } from '../records/event.ts';
import type { Gap } from '../records/job.ts';
import type { SummaryResult, WindowSpan } from '../records/window-closure.ts';
import type { DigestWindow } from '../records/digest-state.ts';

/** Summary of the closure's one window with samples, and the key of its frame grid (`null` without one). */
type Account = { result: Exclude<SummaryResult, { kind: 'missed' }>; gridKey: string | null };

/** The summary of one window. */
export function createSummaryEvent(
  span: WindowSpan,
  window: DigestWindow,
  gaps: Gap[],
  { result, gridKey }: Account,
): NewEvent {
  const hasSamples = window.samples.length > 0;
  return {
    type: 'summary_generated',
    data: {
      window_index: span.index,
      window_start: span.start.toISOString(),
      window_end: span.end.toISOString(),
      partial: span.partial,
      summary: [hasSamples ? toAccount(window, result) : nothingNew(window), ...notSeen(gaps)].join(' '),
      frames_captured: window.frames_captured,
      frames_skipped: countSkipped(window),
      gaps,
      ...(hasSamples && gridKey !== null ? { frame_grid_key: gridKey } : {}),
    },
  };
}

function toAccount(window: DigestWindow, result: Account['result']): string {
  if (result.kind === 'summarized') return result.summary.summary;
  return `There is no summary of this window's ${pictures(window.frames_captured)}: ${result.why ?? 'nobody was asked.'}`;
}

function nothingNew(window: DigestWindow): string {
  if (countSkipped(window) === 0) return 'No picture was taken in this window.';
  const { skipped } = window;
  const reasons = [
    reason(skipped.no_motion, 'had nothing moving in it'),
    reason(skipped.frozen, 'showed a frozen picture'),
    reason(skipped.black, 'showed a black picture'),
    reason(skipped.repeated, 'came from a segment seen before'),
  ].flat();
  return `Nothing new was seen in this window: of ${pictures(countSkipped(window))}, ${reasons.join(', ')}.`;
}

function reason(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

function countSkipped({ skipped }: DigestWindow): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function pictures(count: number): string {
  return `${count} picture${count === 1 ? '' : 's'}`;
}

/** All gaps are in the event's data; the text is for people. */
const maxGapsInSummary = 5;

const causes = {
  stream: 'it could not be reached',
  stale: 'it stood still',
  model: 'the model did not answer',
  service: 'the service was not watching',
} as const;

function notSeen(gaps: Gap[]): string[] {
  const told = gaps
    .slice(0, maxGapsInSummary)
    .map(
      ({ from, to, reason }) =>
        `The stream was not seen from ${toTime(from)} to ${toTime(to)} UTC: ${causes[reason]}.`,
    );
  const more = gaps.length - told.length;
  return more > 0 ? [...told, `There were ${more} more such gaps.`] : told;
}

function toTime(timestamp: string): string {
  return timestamp.slice(11, 19);
}
