import type { JobEvent } from '../api/types.ts';

/** Announces alerts to a screen reader. Events up to sequence `before` are older than the page and stay silent. */
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
  return event.type === 'job_stopped' ? [`The job ended: ${event.data.status}`] : [];
}
