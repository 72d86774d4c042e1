import type { JobEvent, Progress } from '../api/types.ts';

/** Item of the timeline: an event, or several checks without motion. */
export type TimelineItem =
  | { kind: 'event'; event: JobEvent }
  /** Consecutive checks without motion, shown as one line. */
  | { kind: 'quiet'; checks: Progress[] };

/** Filter of the timeline: `findings` omits progress events. */
export type TimelineFilter = 'all' | 'findings';

/** Returns the items of the timeline, newest first. The filter `findings` omits progress events. */
export function timelineItems(events: JobEvent[], filter: TimelineFilter): TimelineItem[] {
  const items: TimelineItem[] = [];
  const alerts = new Set(
    events.flatMap((event) => (event.type === 'watch_triggered' ? [event.timestamp] : [])),
  );
  for (const event of events.toReversed()) {
    if (event.type !== 'progress') items.push({ kind: 'event', event });
    // An alert has the same content as the check that it is committed with.
    else if (filter === 'findings' || alerts.has(event.timestamp)) continue;
    else if (!isQuiet(event)) items.push({ kind: 'event', event });
    else {
      const last = items.at(-1);
      if (last?.kind === 'quiet') last.checks.push(event);
      else items.push({ kind: 'quiet', checks: [event] });
    }
  }
  return items;
}

function isQuiet({ data }: Progress): boolean {
  return data.prefilter_skipped && data.stream === 'ok' && data.picture === 'ok';
}
