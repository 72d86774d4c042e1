import type { SearchedWatch } from './searched-watches.ts';
import type { SpanReason } from '../records/sight.ts';

type Bounds = { from: Date; to: Date };

/** Lists the gaps of a watch, of which one that lasts over the end of an hour has a span in each. */
export function listGaps({ watch, spans }: SearchedWatch) {
  return spans.flatMap(({ from, to, reason }) =>
    reason === null ? [] : [{ watch_id: watch.run_id, from, to, reason }],
  );
}

/** Joins gaps of a watch that follow each other, in time order. */
export function joinGaps<Gap extends Bounds & { reason: SpanReason | 'paused' }>(
  gaps: readonly Gap[],
): Gap[] {
  const joined: Gap[] = [];
  for (const gap of gaps) {
    const last = joined.at(-1);
    if (last && last.reason === gap.reason && gap.from.getTime() - last.to.getTime() <= 1000)
      last.to = gap.to;
    else joined.push({ ...gap });
  }
  return joined;
}

/** Returns the longest spans, in time order. */
export function selectLongest<Each extends Bounds>(spans: readonly Each[], count: number): Each[] {
  const length = ({ from, to }: Each) => to.getTime() - from.getTime();
  return spans
    .toSorted((one, other) => length(other) - length(one))
    .slice(0, count)
    .toSorted((one, other) => one.from.getTime() - other.from.getTime());
}

/** Times that nobody saw in one response. */
export const maxGaps = 500;
