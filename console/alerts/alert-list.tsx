import { useEffect, useRef, useState } from 'preact/hooks';
import type { Alert, AlertList as AlertPage } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, Skeleton } from '../parts/panel.tsx';
import { Checkbox } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { mayUse, useSession } from '../session/session.ts';
import { timeZone } from '../time/format.ts';
import { AlertCard } from './alert-card.tsx';
import { AlertFilterFields, useAlertFilter } from './alert-filter.tsx';
import type { AlertFilter } from './alert-span.ts';
import { findAlertAction, type AlertAction, type ReviewAction } from './alert-keys.ts';
import { PageHead } from '../shell/page-head.tsx';
import { routeUrls } from '../shell/routes.ts';

const pageSize = 20;
const everyMs = 3_000;

const announcements: Record<ReviewAction, string> = {
  right: 'Reviewed as right',
  wrong: 'Reviewed as wrong',
  acknowledge: 'Acknowledged',
};

type Props = { watchId?: string | undefined; alertId?: string | undefined; onChange?: () => void };

/** Lists alerts, of one watch or of all, or shows one, and reviews them with buttons or the keyboard. */
export function AlertList({ watchId, alertId, onChange }: Props) {
  const reviews = mayUse(useSession(), 'jobs');
  const { value, problem, reload, filter, setFilter, span, positions, setPositions } = useAlerts(
    watchId,
    alertId,
  );
  const { announcement, reviewing, readNote, setNote } = useReviews(() => {
    reload();
    onChange?.();
  });
  const [shortcuts, setShortcuts] = useState(true);
  const [chosen, setChosen] = useState<string>();
  const list = useRef<HTMLOListElement>(null);
  const isAbsent = alertId !== undefined && (problem?.status === 404 || problem?.status === 422);
  const alerts = value?.alerts ?? [];
  const selected = alerts.find(({ alert_id: id }) => id === chosen) ?? alerts[0];

  const focusAt = (index: number) => {
    const alert = alerts[Math.max(0, Math.min(alerts.length - 1, index))];
    if (!alert) return;
    setChosen(alert.alert_id);
    list.current?.querySelector<HTMLElement>(`[data-alert="${alert.alert_id}"]`)?.focus();
  };

  useShortcuts(shortcuts, (action) => {
    const selectedIndex = selected ? alerts.indexOf(selected) : 0;
    // The first press chooses the first alert instead of passing it.
    const inside = list.current?.contains(document.activeElement) ?? false;
    if (action === 'next') return focusAt(inside ? selectedIndex + 1 : selectedIndex);
    if (action === 'previous') return focusAt(selectedIndex - 1);
    if (reviews && selected && !reviewing.busy) void reviewing.run(selected, action);
  });

  return (
    <>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
      <div class="row filters">
        {alertId === undefined && (
          <AlertFilterFields filter={filter} span={span} ofWatch={watchId} onFilter={setFilter} />
        )}
        <div class="desk-only">
          <Checkbox
            label="Keyboard shortcuts"
            hint="j, k: next, previous · r: right · w: wrong · a: acknowledge"
            checked={shortcuts}
            onChecked={setShortcuts}
          />
        </div>
      </div>
      {isAbsent && (
        <EmptyState icon="bell" title="Alert not found">
          <p class="muted">It has expired, or it belongs to another caller.</p>
        </EmptyState>
      )}
      {problem && problem.status !== 0 && !isAbsent && <ProblemNote problem={problem} onRetry={reload} />}
      {reviewing.problem && <ProblemNote problem={reviewing.problem} />}
      {!value && !problem && <Skeleton rows={5} />}
      {value && alerts.length === 0 && (
        <EmptyState icon="bell" title={span || filter.state !== '' ? 'No such alert' : 'No alerts'} />
      )}
      <ol ref={list} aria-label="Alerts">
        {alerts.map((alert) => (
          <AlertCard
            key={alert.alert_id}
            alert={alert}
            alone={alertId !== undefined}
            ofWatch={watchId !== undefined}
            selected={alert === selected}
            note={readNote(alert)}
            reviews={reviews}
            busy={reviewing.busy}
            onSelect={() => setChosen(alert.alert_id)}
            onNote={(note) => setNote(alert, note)}
            onAction={(action) => void reviewing.run(alert, action)}
          />
        ))}
      </ol>
      {value && alertId === undefined && (
        <Pages count={alerts.length} positions={positions} next={value.next_after} onChange={setPositions} />
      )}
    </>
  );
}

/** Reads a page of alerts, or one alert, again every few seconds. */
function useAlerts(watchId: string | undefined, alertId: string | undefined) {
  const { api } = useSession();
  const { filter, setFilter, span, query } = useAlertFilter(watchId);
  // Positions of the pages before this one; the last is that of this page.
  const [positions, setPositions] = useState<string[]>([]);
  const load = async (signal: AbortSignal): Promise<AlertPage> =>
    alertId === undefined
      ? api.alerts({ ...query, after: positions.at(-1), limit: pageSize }, signal)
      : { alerts: [await api.alert(alertId, signal)], next_after: null };
  // A list of a past span changes only by reviews.
  const isPast = span !== undefined && span.to.getTime() < Date.now();
  const page = useResource(load, [JSON.stringify(query), alertId, positions], isPast ? undefined : everyMs);
  const changeFilter = (next: AlertFilter) => {
    setPositions([]);
    setFilter(next);
  };
  return { ...page, filter, setFilter: changeFilter, span, positions, setPositions };
}

/** Acknowledges and reviews alerts, with the notes that are typed. */
function useReviews(onReviewed: () => void) {
  const { api } = useSession();
  const [announcement, setAnnouncement] = useState('');
  const [notes, setNotes] = useState<Record<string, string>>({});
  const readNote = ({ alert_id: id, review }: Alert) => notes[id] ?? review?.note ?? '';
  const reviewing = useAction(async (alert: Alert, action: ReviewAction) => {
    if (action === 'acknowledge') await api.acknowledgeAlert(alert.alert_id);
    else await api.reviewAlert(alert.alert_id, action === 'right', readNote(alert));
    setAnnouncement(`${announcements[action]}: ${alert.condition}`);
    onReviewed();
  });
  const setNote = ({ alert_id: id }: Alert, note: string) =>
    setNotes((before) => ({ ...before, [id]: note }));
  return { announcement, reviewing, readNote, setNote };
}

type PagesProps = {
  count: number;
  positions: string[];
  next: string | null;
  onChange: (positions: string[]) => void;
};

function Pages({ count, positions, next, onChange }: PagesProps) {
  const first = positions.length * pageSize + 1;
  const end = first + count - 1;
  const shown = next === null ? `${first} to ${end} of ${end}` : `${first} to ${end}, and older ones`;
  const note = count > 0 && (
    <span class="small muted">
      Alerts {shown}. Times: {timeZone}.
    </span>
  );
  if (positions.length === 0 && next === null) return note && <p class="row pages">{note}</p>;
  return (
    <nav class="row pages" aria-label="Pages of alerts">
      <Button small disabled={positions.length === 0} onClick={() => onChange(positions.slice(0, -1))}>
        Newer
      </Button>
      <Button small disabled={next === null} onClick={() => next !== null && onChange([...positions, next])}>
        Older
      </Button>
      {note}
    </nav>
  );
}

/** Calls `run` for the keys of actions while `isOn`. */
function useShortcuts(isOn: boolean, run: (action: AlertAction) => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isOn) return;
    const press = (event: KeyboardEvent) => {
      const action = findAlertAction(event);
      if (action === undefined || isTyping(event.target)) return;
      event.preventDefault();
      latest.current(action);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [isOn]);
}

/** Returns true if a key belongs to a control, or if a dialog is open. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]')) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Lists the alerts of all watches for review, or shows the one to which a message links. */
export function AlertsPage({ alertId }: { alertId?: string | undefined }) {
  if (alertId !== undefined)
    return (
      <>
        <PageHead title="Alert" />
        <p>
          <a href={routeUrls.alerts}>All alerts</a>
        </p>
        <section class="panel flush" aria-label="Alert">
          <AlertList alertId={alertId} />
        </section>
      </>
    );
  return (
    <>
      <PageHead
        title="Alerts"
        lead="Alerts of all watches, newest first. Your reviews give the precision of each condition."
      />
      <section class="panel flush" aria-label="Alerts of all watches">
        <AlertList />
      </section>
    </>
  );
}
