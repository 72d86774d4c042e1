import { useState } from 'preact/hooks';
import type { JobEvent, Progress, AlertEvent, SummaryEvent } from '../api/types.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { EmptyState, Panel, Skeleton } from '../parts/panel.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Clock } from '../time/when.tsx';
import { areDigestEvents, reasonLabel } from './job-labels.ts';
import { timelineItems, type TimelineFilter, type TimelineItem } from './timeline-items.ts';
import type { JobLog } from './use-job-log.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { exactTime, pluralize } from '../time/format.ts';

const step = 60;

const states: Record<JobLog['state'], { tone: Tone; text: string }> = {
  reading: { tone: 'neutral', text: 'Reading' },
  live: { tone: 'good', text: 'Live' },
  reconnecting: { tone: 'warn', text: 'Reconnecting' },
  over: { tone: 'neutral', text: 'Ended' },
};

/** Shows the event log of a job, newest first, and follows it. */
export function Timeline({ log }: { log: JobLog }) {
  const [filter, setFilter] = useState<TimelineFilter>('all');
  const [shown, setShown] = useState(step);
  const items = timelineItems(log.events, filter);
  const ofDigest = areDigestEvents(log.events);
  const { tone, text } = states[log.state];
  return (
    <Panel
      title="Timeline"
      aside={
        <>
          <Badge tone={tone} dot={log.state === 'live'}>
            {text}
          </Badge>
          <Choice
            legend="Show"
            hideLegend
            value={filter}
            onValue={setFilter}
            options={[
              { value: 'all', label: 'All' },
              { value: 'findings', label: 'Alerts and summaries' },
            ]}
          />
        </>
      }
    >
      {log.problem && <ProblemNote problem={log.problem} />}
      {items.length === 0 &&
        (log.state === 'reading' ? <Skeleton /> : <EmptyState icon="pulse" title="No events yet" />)}
      <ol>
        {items.slice(0, shown).map((item) => (
          <Item key={toKey(item)} item={item} ofDigest={ofDigest} />
        ))}
      </ol>
      {items.length > shown && (
        <Button small onClick={() => setShown(shown + step)}>
          Show older
        </Button>
      )}
    </Panel>
  );
}

/** Returns a stable key. A quiet line gains checks at its start, so its oldest check identifies it. */
function toKey(item: TimelineItem): number {
  const event = item.kind === 'event' ? item.event : item.checks.at(-1);
  return event?.data.sequence ?? 0;
}

function Item({ item, ofDigest }: { item: TimelineItem; ofDigest: boolean }) {
  if (item.kind === 'quiet') return <Quiet checks={item.checks} />;
  const { event } = item;
  return (
    <li class={`entry ${event.type}`}>
      <span class="small muted number">
        <Clock at={event.timestamp} />
      </span>
      <div>
        <Entry event={event} ofDigest={ofDigest} />
      </div>
    </li>
  );
}

function Quiet({ checks }: { checks: Progress[] }) {
  const [newest, oldest] = [checks[0], checks.at(-1)];
  if (!newest || !oldest) return null;
  return (
    <li class="entry quiet">
      <span class="small muted number">
        <Clock at={newest.timestamp} />
      </span>
      <div class="muted">
        {checks.length === 1 ? (
          'No motion: the pre-filter skipped the model call.'
        ) : (
          <>
            {checks.length} checks without motion since <Clock at={oldest.timestamp} />
          </>
        )}
      </div>
    </li>
  );
}

function Entry({ event, ofDigest }: { event: JobEvent; ofDigest: boolean }) {
  switch (event.type) {
    case 'job_started':
      return <p>Job started.</p>;
    case 'progress':
      return <Check event={event} ofDigest={ofDigest} />;
    case 'watch_triggered':
      return <Evidence event={event} />;
    case 'summary_generated':
      return <SummaryCard event={event} />;
    case 'error':
      return (
        <ProblemNote
          problem={{ message: event.data.message, remedy: event.data.remediation, code: event.data.code }}
        />
      );
    case 'job_stopped':
      return (
        <p>
          <strong>{reasonLabel(event.data.reason)}.</strong>{' '}
          <span class="muted">
            {pluralize(event.data.checks_performed, 'check')}
            {ofDigest ? '' : `, ${pluralize(event.data.triggers_fired, 'alert')}`}.
          </span>
        </p>
      );
  }
}

function Check({ event: { data }, ofDigest }: { event: Progress; ofDigest: boolean }) {
  const { tone, text } = toOutcome(data, ofDigest);
  return (
    <p>
      <Badge tone={tone}>{text}</Badge> <span class="muted">{data.explanation}</span>
    </p>
  );
}

function toOutcome(data: Progress['data'], ofDigest: boolean): { tone: Tone; text: string } {
  if (data.stream !== 'ok') return { tone: 'warn', text: data.stream };
  if (data.picture !== 'ok' && data.picture !== null) return { tone: 'warn', text: data.picture };
  if (data.prefilter_skipped) return { tone: 'neutral', text: 'skipped' };
  if (data.judged === false) return { tone: 'warn', text: 'not judged' };
  if (data.triggered === null)
    return ofDigest ? { tone: 'neutral', text: 'sampled' } : { tone: 'warn', text: 'no verdict' };
  return data.triggered ? { tone: 'alert', text: 'holds' } : { tone: 'neutral', text: 'does not hold' };
}

/** Shows an alert with its evidence, which opens enlarged. */
function Evidence({ event: { data } }: { event: AlertEvent }) {
  const [open, setOpen] = useState(false);
  const boxes = data.boxes ?? [];
  const path = `/jobs/${data.job_id}/media/${data.sequence}${boxes.length === 0 ? '' : '?boxes=true'}`;
  return (
    <div class="evidence">
      <button type="button" class="evidence-open" onClick={() => setOpen(true)}>
        <ProtectedPicture path={path} alt="Evidence frame" />
        <span class="visually-hidden">Open the evidence</span>
      </button>
      <div class="stack gap-1 at-start">
        <Badge tone="alert" dot>
          Alert
        </Badge>
        <p>{data.explanation}</p>
      </div>
      {open && (
        <Dialog title="Evidence" wide onClose={() => setOpen(false)}>
          <ProtectedPicture path={path} alt={`Evidence: ${data.explanation}`} />
          <p class="quoted">“{data.condition}”</p>
          <p>{data.explanation}</p>
          {boxes.length > 0 && (
            <p class="small">
              Boxes: {boxes.map(({ label, score }) => `${label} ${score.toFixed(2)}`).join(', ')}
            </p>
          )}
          <p class="small muted">Captured {exactTime(data.captured_at)}</p>
        </Dialog>
      )}
    </div>
  );
}

/** Shows the summary of a digest window. */
function SummaryCard({ event: { data } }: { event: SummaryEvent }) {
  const [open, setOpen] = useState(false);
  // A log event links to the frame grid, a streamed event contains it; the card reads both from the same URL.
  const hasGrid = 'frame_grid_url' in data || ('frame_grid_b64' in data && data.frame_grid_b64 !== null);
  return (
    <article class="stack gap-2 at-start">
      <p>
        <Badge tone="accent">Window {data.window_index}</Badge>{' '}
        <span class="small muted">
          <Clock at={data.window_start} /> – <Clock at={data.window_end} />
          {data.partial ? ', partial' : ''}
        </span>
      </p>
      <p class="summary-text">{data.summary}</p>
      <p class="small muted">
        {pluralize(data.frames_captured, 'frame')}, {data.frames_skipped} skipped
        {data.gaps.length > 0 ? `, ${pluralize(data.gaps.length, 'gap')}` : ''}
      </p>
      {hasGrid && (
        <Button small onClick={() => setOpen(true)}>
          Show frames
        </Button>
      )}
      {open && (
        <Dialog title={`Frames of window ${data.window_index}`} wide onClose={() => setOpen(false)}>
          <ProtectedPicture
            path={`/jobs/${data.job_id}/media/${data.sequence}`}
            alt={`Frames of window ${data.window_index}: ${data.summary}`}
          />
        </Dialog>
      )}
    </article>
  );
}
