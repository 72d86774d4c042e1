import { useEffect, useState } from 'preact/hooks';
import type { Alert, Watch } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Field, TimeInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { dayText, shortTime } from '../time/format.ts';
import { LaneCursor } from './lane-cursor.tsx';
import {
  lifeOf,
  listSnoozedParts,
  toAlertBars,
  toBars,
  toLanes,
  toPaths,
  toSnoozeBars,
} from './lane-bars.ts';
import type { Lane, Lanes as ReadLanes } from './lane-bars.ts';
import { dayOf, lengthOf, newestDay, stepShare, windowLengths, zoomTo } from './time-window.ts';
import type { TimeWindow } from './time-window.ts';
import { EmptyState, Skeleton } from '../parts/panel.tsx';
import { PageHead } from '../shell/page-head.tsx';

/** Each lane is a request: many are read again less often. */
const [everyMs, everyMsOfMany, many] = [15_000, 60_000, 10];
const maxAlertPages = 5;

/** Place of the pointer or of the arrow keys. */
type Cursor = { lane: number; atMs: number };

type Props = { watches: Watch[] };

/**
 * Shows a lane per watch: what was judged, quiet, between pictures and not seen, and the alerts, from a day down to
 * minutes.
 */
export function TimeLine({ watches }: Props) {
  const [window, setWindow] = useState(() => newestDay(Date.now()));
  const [cursor, setCursor] = useState<Cursor>();
  const { value: read, problem, reload } = useLanes(watches, window);
  const lanes = read?.lanes;
  const endMs = window.startMs + window.lengthMs;
  const move = (ms: number) => setWindow({ ...window, startMs: window.startMs + ms });
  const zoom = (length: (typeof windowLengths)[number]['value'], atMs = cursor?.atMs ?? Date.now()) =>
    setWindow(zoomTo(length, atMs, Date.now()));
  return (
    <div class="stack gap-2 time-line">
      <div class="row filters">
        <Choice
          legend="Length of the time line"
          hideLegend
          options={windowLengths.map(({ value, label }) => ({ value, label }))}
          value={lengthOf(window)}
          onValue={(length) => zoom(length)}
        />
        <div class="row">
          <Button small onClick={() => move(-window.lengthMs)}>
            Earlier
          </Button>
          <Button small disabled={endMs > Date.now()} onClick={() => move(window.lengthMs)}>
            Later
          </Button>
        </div>
        <Field label="Day">
          {(ids) => (
            <TimeInput {...ids} type="date" value="" onValue={(day) => day !== '' && setWindow(dayOf(day))} />
          )}
        </Field>
      </div>
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {read?.notes.map((note) => (
        <p key={note} class="small" role="status">
          {note}
        </p>
      ))}
      {(lanes || !problem) && (
        <Lanes
          lanes={lanes ?? watches.map((watch) => ({ watch, hours: [], alerts: [], unannounced: [] }))}
          isBusy={!lanes}
          window={window}
          cursor={cursor}
          onCursor={setCursor}
          onZoom={(atMs) => zoom(lengthOf(window) === 'day' ? 'hour' : 'minutes', atMs)}
          onZoomOut={() => zoom(lengthOf(window) === 'minutes' ? 'hour' : 'day')}
        />
      )}
      <p class="row small muted legend">
        {keys.map(([kind, text]) => (
          <span key={kind}>
            <span class="key" style={{ background: `var(--${kind})` }} /> {text}
          </span>
        ))}
      </p>
    </div>
  );
}

/** Colors of the lanes (`tokens.css`) with their meaning. */
const keys = [
  ['judged', 'judged'],
  ['quiet', 'quiet'],
  ['between', 'between pictures'],
  ['not_seen', 'not seen'],
  ['open', 'alert'],
  ['snoozed', 'snoozed'],
  ['unannounced', 'seen while snoozed'],
] as const;

/** Reads the lanes of a window; again while it is not over. */
function useLanes(watches: Watch[], { startMs, lengthMs }: TimeWindow) {
  const { api } = useSession();
  const span = { from: new Date(startMs).toISOString(), to: new Date(startMs + lengthMs).toISOString() };
  const only = watches.length === 1 ? watches[0]?.watch_id : undefined;
  const load = async (signal: AbortSignal): Promise<ReadLanes> => {
    // Columns of hours are enough for a day.
    const spans = lengthMs <= 3_600_000;
    const [{ alerts, isCut }, unannounced, stats] = await Promise.all([
      readAlerts(signal),
      readUnannounced(signal),
      Promise.allSettled(watches.map(({ watch_id: id }) => api.watchStats(id, { ...span, spans }, signal))),
    ]);
    return toLanes(watches, stats, { alerts, isCut }, unannounced);
  };
  const readAlerts = async (signal: AbortSignal) => {
    const all: Alert[] = [];
    let after: string | null | undefined;
    for (let page = 0; page < maxAlertPages && after !== null; page += 1) {
      const { alerts, next_after: next } = await api.alerts(
        { ...span, watch_id: only, after, limit: 100 },
        signal,
      );
      all.push(...alerts);
      after = next;
    }
    return { alerts: all, isCut: after !== null };
  };
  // Only conditions that were snoozed have a request more.
  const readUnannounced = async (signal: AbortSignal) => {
    const read = watches
      .flatMap((watch) => listSnoozedParts(watch, span))
      .map((part) => api.moments({ ...part, verdict: 'held', limit: 100 }, signal));
    const pages = await Promise.allSettled(read);
    const loaded = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value : []));
    return {
      moments: loaded.flatMap(({ moments }) => moments),
      isCut: loaded.length < pages.length || loaded.some(({ next_after: next }) => next !== null),
    };
  };
  const isOver = startMs + lengthMs < Date.now();
  const ids = watches.map(({ watch_id: id }) => id).join();
  const againMs = watches.length > many ? everyMsOfMany : everyMs;
  return useResource(load, [ids, startMs, lengthMs], isOver ? undefined : againMs);
}

type LanesProps = {
  isBusy: boolean;
  lanes: Lane[];
  window: TimeWindow;
  cursor: Cursor | undefined;
  onCursor: (cursor: Cursor | undefined) => void;
  onZoom: (atMs: number) => void;
  onZoomOut: () => void;
};

function Lanes({ isBusy, lanes, window, cursor, onCursor, onZoom, onZoomOut }: LanesProps) {
  const { startMs, lengthMs } = window;
  const inside = cursor && cursor.atMs >= startMs && cursor.atMs < startMs + lengthMs ? cursor : undefined;
  const now = Date.now();
  const point = (lane: number) => (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onCursor({ lane, atMs: startMs + ((event.clientX - left) / width) * lengthMs });
  };
  const press = (event: KeyboardEvent) => {
    const { lane, atMs } = inside ?? { lane: 0, atMs: Math.min(now, startMs + lengthMs - 1) };
    // The first key shows the cursor.
    const step = (event.shiftKey ? 10 : 1) * (inside ? stepShare : 0) * lengthMs;
    const limit = (ms: number) => Math.min(startMs + lengthMs - 1, Math.max(startMs, ms));
    const moves: { [Key in string]?: () => void } = {
      ArrowLeft: () => onCursor({ lane, atMs: limit(atMs - step) }),
      ArrowRight: () => onCursor({ lane, atMs: limit(atMs + step) }),
      ArrowUp: () => onCursor({ lane: Math.max(0, lane - 1), atMs }),
      ArrowDown: () => onCursor({ lane: Math.min(lanes.length - 1, lane + 1), atMs }),
      Enter: () => onZoom(atMs),
      Backspace: onZoomOut,
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const shown = inside && lanes[inside.lane];
  return (
    <>
      <LaneCursor lane={shown} atMs={inside?.atMs} lengthMs={lengthMs}>
        {(text) => (
          <div
            class="stack gap-2"
            aria-busy={isBusy}
            role="slider"
            tabIndex={0}
            aria-label="Time line. Arrow keys move, Enter shows more, Backspace less"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={inside ? Math.round(((inside.atMs - startMs) / lengthMs) * 100) : 100}
            aria-valuetext={text}
            onKeyDown={press}
          >
            {lanes.map((lane, index) => (
              <div key={lane.watch.watch_id} class="lane-row">
                {lanes.length > 1 && <span class="small one-line lane-name">{lane.watch.name}</span>}
                <svg
                  class="lane"
                  viewBox="0 0 1 1"
                  preserveAspectRatio="none"
                  aria-hidden="true"
                  onPointerMove={point(index)}
                  onPointerDown={point(index)}
                  onDblClick={() => inside && onZoom(inside.atMs)}
                >
                  {toPaths(
                    [...toBars(lane.hours, window, lifeOf(lane.watch, now)), ...toSnoozeBars(lane, window)],
                    toAlertBars(lane.alerts, window, now),
                  ).map(({ kind, d }) => (
                    <path key={kind} class={kind} fill={`var(--${kind})`} d={d} />
                  ))}
                  {inside && (
                    <rect
                      fill="currentColor"
                      x={(inside.atMs - startMs) / lengthMs}
                      y="0"
                      width="0.002"
                      height={index === inside.lane ? 1 : 0.2}
                    />
                  )}
                </svg>
              </div>
            ))}
            <Axis window={window} isNamed={lanes.length > 1} />
          </div>
        )}
      </LaneCursor>
    </>
  );
}

function Axis({ window: { startMs, lengthMs }, isNamed }: { window: TimeWindow; isNamed: boolean }) {
  const [isNarrow, setNarrow] = useState(false);
  useEffect(() => setNarrow(innerWidth < 820), []);
  // Whole minutes: every two of ten.
  const count = isNarrow ? 3 : lengthOf({ startMs, lengthMs }) === 'minutes' ? 6 : 7;
  const times = Array.from({ length: count }, (_, index) => startMs + (index * lengthMs) / (count - 1));
  return (
    <div class="lane-row" aria-hidden="true">
      {isNamed && <span class="small muted one-line lane-name">{dayText(new Date(startMs))}</span>}
      <p class="spread grow small muted">
        {times.map((ms) => (
          <span key={ms}>{shortTime(ms)}</span>
        ))}
      </p>
    </div>
  );
}

/** Shows the time line of all watches. */
export function TimelinePage() {
  const { api } = useSession();
  const { value: watches, problem, reload } = useResource((signal) => api.watches(signal), []);
  return (
    <>
      <PageHead title="Time line" lead="What each watch saw, and what nobody saw." />
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {!watches && !problem && <Skeleton rows={8} />}
      {watches?.length === 0 && <EmptyState icon="camera" title="No watches" />}
      {watches && watches.length > 0 && (
        <section class="panel" aria-label="Time line of all watches">
          <TimeLine watches={watches} />
        </section>
      )}
    </>
  );
}
