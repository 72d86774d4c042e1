import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { JobDetail, JobEvent } from '../api/types.ts';
import { EmptyState, Panel } from '../parts/panel.tsx';
import { clockTime, useNow, pluralize } from '../time/format.ts';
import { activityData, axisTimes } from './activity-data.ts';
import type { ActivityData, Column, CheckOutcome } from './activity-data.ts';
import { isActive, percent } from './job-labels.ts';

const height = { motion: 96, gap: 10, verdict: 22, axis: 22 };
const total = height.motion + height.gap + height.verdict + height.axis;
const columnWidth = 7;
/** Width of a time of day in any locale, in pixels. */
const labelWidth = 92;
/** Minimum time span of the axis, in milliseconds: keeps the first checks of a job together. */
const minSpanMs = { active: 60_000, ended: 15_000 };

const cross = { fill: 'none', stroke: 'var(--bad)', 'stroke-width': 1.8 };

/** Name of each outcome, with the paint of its mark. */
const outcomes = {
  alert: { name: 'Alert', paint: { fill: 'var(--alert)' } },
  held: { name: 'Holds, no alert', paint: { fill: 'none', stroke: 'var(--alert)', 'stroke-width': 2 } },
  no: { name: 'Does not hold', paint: { fill: 'var(--accent)' } },
  sampled: { name: 'For the summary', paint: { fill: 'var(--accent)' } },
  skipped: { name: 'Skipped', paint: { fill: 'var(--muted)' } },
  unanswered: { name: 'No verdict', paint: cross },
  away: { name: 'No frame', paint: cross },
} satisfies Record<CheckOutcome, unknown>;

const motionPaint = { fill: 'var(--accent)', opacity: 0.75 };
const motionPaints: { [Outcome in CheckOutcome]?: object } = {
  alert: { fill: 'var(--alert)' },
  skipped: { fill: 'var(--line-strong)' },
};
const bandPaint = { fill: 'var(--bad)', opacity: 0.14 };
const scale = { class: 'number', fill: 'var(--muted)', 'font-size': 11 };
const legendSize = { viewBox: '0 0 12 12', width: 12, height: 12, overflow: 'visible' };

const outcomeOrder = [
  'alert',
  'held',
  'no',
  'sampled',
  'skipped',
  'unanswered',
  'away',
] as const satisfies CheckOutcome[];

const reasons = {
  stream: 'stream unavailable',
  damaged: 'packets of the stream were lost',
  stale: 'stream stale',
  model: 'model calls failed',
  service: 'service down',
};

/** Shows motion and outcome of each tick on a time axis, with the gaps. */
export function Activity({ events, job }: { events: JobEvent[]; job: JobDetail }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const now = useNow(1_000);
  const from = Date.parse(job.stats.started_at ?? job.created_at);
  const end = isActive(job.status) || job.stats.ended_at === null ? now : Date.parse(job.stats.ended_at);
  const shortest = isActive(job.status) ? minSpanMs.active : minSpanMs.ended;
  const data = activityData(
    events,
    job.stats.coverage.gaps,
    { from, to: Math.max(end, from + shortest) },
    Math.max(20, Math.floor(width / columnWidth)),
  );
  const checks = data.columns.reduce((sum, column) => sum + column.checks, 0);
  return (
    <Panel title="Activity">
      <div class="activity" ref={frame}>
        {checks === 0 ? (
          <EmptyState icon="pulse" title="No checks yet" />
        ) : (
          width > 0 && <Chart data={data} width={width} label={inWords(data, checks, job)} />
        )}
      </div>
      <Legend data={data} />
    </Panel>
  );
}

function Chart({ data, width, label }: { data: ActivityData; width: number; label: string }) {
  const x = (time: number) => 4 + ((time - data.from) / (data.to - data.from)) * (width - 8);
  return (
    <svg
      overflow="visible"
      viewBox={`0 0 ${width} ${total}`}
      width={width}
      height={total}
      role="img"
      aria-label={label}
    >
      {[0.25, 1].map((motion) => (
        <g key={motion}>
          <line
            stroke="var(--line)"
            stroke-dasharray="2 4"
            x2={width}
            y1={barTop(motion)}
            y2={barTop(motion)}
          />
          <text {...scale} x={width} y={barTop(motion) + 11} text-anchor="end">
            {percent(motion)}
          </text>
        </g>
      ))}
      <line stroke="var(--line-strong)" x2={width} y1={height.motion} y2={height.motion} />
      {data.bands.map((band) => (
        <rect
          key={band.from}
          {...bandPaint}
          x={x(Math.max(band.from, data.from))}
          width={Math.max(2, x(band.to) - x(Math.max(band.from, data.from)))}
          y={0}
          height={height.motion + height.gap + height.verdict}
        >
          <title>{`${clockTime(band.from)} – ${clockTime(band.to)}: ${reasons[band.reason]}`}</title>
        </rect>
      ))}
      {data.columns.map((column) => (
        <Tick key={column.at} column={column} x={x(column.at)} />
      ))}
      {axisTimes(data.from, data.to, Math.floor(width / labelWidth)).map((time) => (
        <text
          key={time}
          {...scale}
          x={Math.min(Math.max(x(time), labelWidth / 2 - 8), width - labelWidth / 2 + 8)}
          y={total - 5}
          text-anchor="middle"
        >
          {clockTime(time)}
        </text>
      ))}
    </svg>
  );
}

function Tick({ column, x }: { column: Column; x: number }) {
  const top = barTop(column.motion ?? 0);
  const row = height.motion + height.gap + height.verdict / 2;
  const motion = column.motion === null ? '' : `, ${percent(column.motion)} of the frame changed`;
  return (
    <g>
      <title>{`${clockTime(column.at)}: ${outcomes[column.outcome].name}${motion}`}</title>
      {column.motion !== null && (
        <rect
          {...(motionPaints[column.outcome] ?? motionPaint)}
          x={x - 2}
          width={4}
          y={Math.min(top, height.motion - 2)}
          height={Math.max(2, height.motion - top)}
          rx={1.5}
        />
      )}
      <Mark outcome={column.outcome} x={x} y={row} />
    </g>
  );
}

/** Draws one shape per outcome, so that color is not the only difference. */
function Mark({ outcome, x, y }: { outcome: CheckOutcome; x: number; y: number }) {
  const { paint } = outcomes[outcome];
  if (outcome === 'alert') return <path {...paint} d={`M${x} ${y - 6}l6 11h-12Z`} />;
  if (outcome === 'skipped') return <rect {...paint} x={x - 1} y={y - 3} width={2} height={6} />;
  if (outcome === 'unanswered' || outcome === 'away')
    return <path {...paint} d={`M${x - 3} ${y - 3}l6 6m0 -6l-6 6`} />;
  return <circle {...paint} cx={x} cy={y} r={3} />;
}

/** Returns the top of a bar. The scale is a square root, because the pre-filter decides on small motion. */
function barTop(motion: number): number {
  return height.motion - Math.sqrt(motion) * (height.motion - 14);
}

function Legend({ data }: { data: ActivityData }) {
  const seen = outcomeOrder.filter((name) => data.columns.some(({ outcome }) => outcome === name));
  return (
    <ul class="row small muted legend">
      <li>
        <svg {...legendSize} aria-hidden="true">
          <rect {...motionPaint} x="4" y="2" width="4" height="10" rx="1.5" />
        </svg>
        Motion
      </li>
      {seen.map((name) => (
        <li key={name}>
          <svg {...legendSize} aria-hidden="true">
            <Mark outcome={name} x={6} y={6} />
          </svg>
          {outcomes[name].name}
        </li>
      ))}
      {data.bands.length > 0 && (
        <li>
          <svg {...legendSize} aria-hidden="true">
            <rect {...bandPaint} width="12" height="12" />
          </svg>
          Gap
        </li>
      )}
    </ul>
  );
}

function inWords({ bands }: ActivityData, checks: number, { stats }: JobDetail): string {
  return `${pluralize(checks, 'check')} on a time axis, ${pluralize(stats.triggers_fired, 'alert')}, ${stats.frames_skipped} skipped, ${pluralize(bands.length, 'gap')}. The timeline below has the same data as text.`;
}

function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const watched = element.current;
    if (!watched) return;
    setWidth(watched.clientWidth);
    const observer = new ResizeObserver(() => setWidth(watched.clientWidth));
    observer.observe(watched);
    return () => observer.disconnect();
  }, []);
  return width;
}
