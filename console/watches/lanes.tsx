import { useEffect, useState } from 'preact/hooks';
import type { Watch, WatchStats } from '../api/types.ts';
import { useResource } from '../api/use-resource.ts';
import { Choice } from '../parts/choice.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { duration } from '../time/format.ts';
import { When } from '../time/when.tsx';
import { createLanes, createSight } from './lane-spans.ts';
import type { Span } from './lane-spans.ts';
import { countOpen } from './watch-labels.ts';

const everyMs = 10_000;
const daySeconds = 86_400;
/** Alerts of the lanes: enough for a week, and a bounded response. */
const maxAlerts = 100;
/** Least width of an open alert, as a share: a minute would be invisible in a week. */
const minShare = 0.004;

type Length = 'day' | 'week';

const lengths: { value: Length; label: string }[] = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
];

/** Shows when each condition was open in the last day or week, with the hours that the watch saw. */
export function Lanes({ watch, stats }: { watch: Watch; stats: WatchStats | undefined }) {
  const { api } = useSession();
  const [length, setLength] = useState<Length>('day');
  const watchId = watch.watch_id;
  const { value, problem, reload } = useResource(
    async (signal) => ({
      alerts: (await api.alerts({ watch_id: watchId, limit: maxAlerts }, signal)).alerts,
      endMs: Date.now(),
    }),
    [watchId],
    everyMs,
  );
  const openAlerts = countOpen(watch);
  useEffect(() => reload(), [openAlerts]);
  const seconds = length === 'day' ? daySeconds : 7 * daySeconds;
  const endMs = value?.endMs ?? 0;
  const window = { startMs: endMs - seconds * 1000, endMs };
  const hours = stats?.hours ?? [];
  const sight = {
    seen: createSight(hours, watch.created_at, window, 'seen'),
    between: createSight(hours, watch.created_at, window, 'between'),
  };
  return (
    <Panel
      title="Time line"
      aside={
        <Choice
          legend="Length of the time line"
          hideLegend
          options={lengths}
          value={length}
          onValue={setLength}
        />
      }
    >
      {problem && problem.status !== 0 && <ProblemNote problem={problem} onRetry={reload} />}
      {value && (
        <div class="lanes">
          {createLanes(watch, value.alerts, window).map((lane) => (
            <LaneRow key={lane.conditionId} lane={lane} sight={sight} seconds={seconds} />
          ))}
          <p class="small muted lane-axis">
            <When at={new Date(window.startMs).toISOString()} />
            <span>now</span>
          </p>
          <p class="small muted">
            Orange: an alert is open. Green: watched hours; pale: hours of which only pictures were seen.
          </p>
        </div>
      )}
    </Panel>
  );
}

type LaneProps = {
  lane: ReturnType<typeof createLanes>[number];
  sight: { seen: Span[]; between: Span[] };
  seconds: number;
};

function LaneRow({ lane: { condition, open, openShare }, sight, seconds }: LaneProps) {
  return (
    <div>
      <p class="small">
        {condition} <span class="muted">open for {duration(openShare * seconds)}</span>
      </p>
      <svg class="lane" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <Spans spans={sight.seen} kind="seen" />
        <Spans spans={sight.between} kind="between" />
        <Spans spans={open} kind="open" />
      </svg>
    </div>
  );
}

function Spans({ spans, kind }: { spans: Span[]; kind: 'seen' | 'between' | 'open' }) {
  return (
    <>
      {spans.map(({ from, length }) => {
        const width = Math.max(length, minShare);
        return <rect key={from} class={kind} x={Math.min(from, 1 - width)} width={width} y="0" height="1" />;
      })}
    </>
  );
}
