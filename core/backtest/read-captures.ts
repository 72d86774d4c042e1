import type { CoreDeps } from '../dependencies.ts';
import { readSpans } from '../memory/searched-watches.ts';
import { nameCapture, readMomentId, type Moment } from '../records/moment.ts';
import type { Span } from '../records/sight.ts';
import type { WatchRun } from '../records/run.ts';
import { rules } from '../rules.ts';
import { addSeconds, earlier, later } from '../time.ts';

/** Moments of one capture, oldest first, with what was seen since the capture before; none at the end of each read. */
export type StoredCapture = {
  at: Date;
  id: string;
  moments: Moment[];
  spans: readonly Span[];
  isEnd: boolean;
};

/** Time of one read, in seconds. */
const windowSeconds = 3 * 3600;
const pageSize = 500;
/** A moment is so much older than the newest of its capture at most. */
const maxBeforeSeconds = rules.maxScanSeconds + 60;

type Deps = Pick<CoreDeps, 'moments' | 'watches' | 'now'>;

/**
 * Reads the captures of a watch behind one of them, oldest first, then what was seen until the end. Others have their
 * turn after each read, and the reader can stop there.
 */
export async function* readCaptures(
  watch: WatchRun,
  { from, to, after }: { from: Date; to: Date; after: { at: number; id: string } | null },
  deps: Deps,
): AsyncGenerator<StoredCapture> {
  let since = after ? new Date(after.at) : from;
  let spans: Span[] = [];
  for (let begin = since; begin < to;) {
    const end = earlier(addSeconds(begin, windowSeconds), to);
    const [read] = await readSpans([watch], { from: begin, to: end }, deps);
    spans = [...spans.filter((span) => span.to > since), ...(read?.spans ?? [])].toSorted(
      (one, other) => one.from.getTime() - other.from.getTime(),
    );
    for (const moments of await readWindow(watch, begin, end, from, deps)) {
      const newest = moments.at(-1);
      if (!newest) continue;
      const time = new Date(newest.at);
      const isBehind =
        !after || time.getTime() > after.at || (time.getTime() === after.at && newest.moment_id > after.id);
      if (!isBehind) continue;
      yield { at: time, id: newest.moment_id, moments, spans, isEnd: false };
      since = time;
    }
    await new Promise((resolve) => setImmediate(resolve));
    yield { at: end, id: '', moments: [], spans, isEnd: false };
    begin = end;
  }
  yield { at: to, id: '', moments: [], spans, isEnd: true };
}

/** Reads the captures whose newest moment is in a window, in the order of their newest moments. */
async function readWindow(
  { run_id: watchId, caller }: WatchRun,
  begin: Date,
  end: Date,
  from: Date,
  deps: Deps,
): Promise<Moment[][]> {
  const watches = [{ watchId, from: later(from, addSeconds(begin, -maxBeforeSeconds)) }];
  const moments: Moment[] = [];
  for (let after: { at: string; moment_id: string } | undefined; ;) {
    const page = await deps.moments.list({ caller, watches, to: end, limit: pageSize, after }, deps.now());
    moments.push(...page.moments);
    if (page.next === null) break;
    after = page.next;
  }
  const captures = [...Map.groupBy(moments.toReversed(), nameCapture).values()].flatMap((capture) => {
    const newest = capture.at(-1);
    const time = newest && readMomentId(newest.moment_id)?.captureAt;
    return time && time >= begin && time < end ? [{ at: time, capture, id: newest.moment_id }] : [];
  });
  return captures
    .toSorted((one, other) => one.at.getTime() - other.at.getTime() || (one.id < other.id ? -1 : 1))
    .map(({ capture }) => capture);
}
