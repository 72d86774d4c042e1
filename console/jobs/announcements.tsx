import type { JobEvent } from '../api/types.ts';

/** Says arriving alerts to a screen reader: only those that came while the page was open. */
export function Announcements({ events, before }: { events: JobEvent[]; before: number }) {
  const news = events.filter((event) => event.data.sequence > before).flatMap(words);
  return (
    <div class="visually-hidden" aria-live="assertive">
      {news.at(-1)}
    </div>
  );
}

function words(event: JobEvent): string[] {
  if (event.type === 'watch_triggered') return [`Alert: ${event.data.explanation}`];
  if (event.type === 'summary_generated') return [`Summary of window ${event.data.window_index}`];
  return event.type === 'job_stopped' ? [`The job has ended: ${event.data.status}`] : [];
}
