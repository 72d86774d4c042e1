import type { CoreDeps } from '../dependencies.ts';
import { noSpanError, WatchNotFoundError, WatchpostError } from '../errors.ts';
import type { MomentSpan } from '../ports/moment-store.ts';
import { shortestVisitOfWatch } from '../policies/watch/shortest-visit-of-watch.ts';
import { maxMemoryDays } from '../records/moment.ts';
import type { Span } from '../records/sight.ts';
import type { WatchRun } from '../records/run.ts';
import { readHour } from '../sight/spans.ts';
import { addSeconds, earlier, floorHour, later } from '../time.ts';
import { readHours } from '../watch/watch-stats.ts';

/**
 * Watch of a search, with what was seen in its span. `sureSeconds`: visits of this duration were sure to be seen in all
 * of it, also before its rules were changed.
 */
export type SearchedWatch = { watch: WatchRun; from: Date; to: Date; spans: Span[]; sureSeconds: number };

const daySeconds = 86_400;

/** Returns the watches of a caller, or the named ones. Throws `WatchNotFoundError` for one that is not the caller's. */
export async function selectWatches(
  ids: readonly string[] | undefined,
  caller: string,
  { watches }: Pick<CoreDeps, 'watches'>,
): Promise<WatchRun[]> {
  const all = await watches.list(caller);
  if (ids?.some((id) => all.every(({ run_id: ownId }) => ownId !== id))) throw new WatchNotFoundError();
  return all.filter(({ run_id: id }) => ids === undefined || ids.includes(id));
}

/** Span of a search or question, with what its watches remember of it. */
type Memory = { span: { from: Date; to: Date }; watches: SearchedWatch[] };

/**
 * Reads what the watches of a search or question remember. Throws `WatchNotFoundError`, and `WatchpostError` for a
 * blank text or an empty span.
 */
export async function readMemory(
  text: string,
  asked: { watchIds: readonly string[] | undefined; from: Date | undefined; to: Date | undefined },
  caller: string,
  deps: Pick<CoreDeps, 'watches' | 'now'>,
): Promise<Memory> {
  if (text.trim() === '')
    throw new WatchpostError(
      'BAD_REQUEST',
      'The text is blank',
      'Describe what to search, such as "a white van", or ask, such as "Did a parcel come?".',
    );
  const selected = await selectWatches(asked.watchIds, caller, deps);
  const span = limitSpan(asked, deps.now());
  const remembering = selected.filter(({ config }) => config.memory_days > 0);
  return { span, watches: await readSpans(remembering, span, deps) };
}

/** Returns the span of a search, within what can be remembered. Throws `WatchpostError` if it is empty. */
export function limitSpan(
  { from, to }: { from: Date | undefined; to: Date | undefined },
  now: Date,
): { from: Date; to: Date } {
  const end = earlier(to ?? now, now);
  if (from && to && from >= to) throw noSpanError(from, to);
  const oldest = addSeconds(now, -maxMemoryDays * daySeconds);
  return { from: earlier(later(from ?? oldest, oldest), end), to: end };
}

export function toMomentSpan(caller: string, watches: readonly SearchedWatch[], to: Date): MomentSpan {
  return { caller, watches: watches.map(({ watch, from }) => ({ watchId: watch.run_id, from })), to };
}

/** Reads what was seen of watches in a span, one watch after the other: a quarter of a year has thousands of hours. */
export async function readSpans(
  watches: readonly WatchRun[],
  { from, to }: { from: Date; to: Date },
  deps: Pick<CoreDeps, 'watches' | 'now'>,
): Promise<SearchedWatch[]> {
  const read: SearchedWatch[] = [];
  for (const watch of watches) {
    const { created_at: createdAt, config } = watch;
    const kept = addSeconds(deps.now(), -config.memory_days * daySeconds);
    // A clock that was set back meanwhile shows times before the creation.
    const begin = later(from, kept);
    const hours = await readHours(watch, floorHour(begin), to, deps);
    const stored = hours.flatMap(({ hour, seen }) => readHour(new Date(hour), seen));
    const spans = cutSpans(stored, begin, to);
    const sure = hours.map(({ seen }) => seen?.sure ?? 0);
    const sureSeconds = Math.max(shortestVisitOfWatch(watch), ...sure);
    read.push({ watch, from: later(begin, new Date(createdAt)), to, spans, sureSeconds });
  }
  return read;
}

function cutSpans(spans: readonly Span[], begin: Date, end: Date): Span[] {
  return spans
    .map((span) => ({ ...span, from: later(span.from, begin), to: earlier(span.to, end) }))
    .filter(({ from, to }) => from < to);
}

/** Returns a watch of a search with what was seen in a part of its span. */
export function cutTo(searched: SearchedWatch, from: Date, to: Date): SearchedWatch {
  return { ...searched, from, to, spans: cutSpans(searched.spans, from, to) };
}
