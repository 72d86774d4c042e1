import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Alert } from '../api/types.ts';
import { withoutDisclosure } from '../alerts/alert-texts.ts';
import { useResource } from '../api/use-resource.ts';
import { ProtectedPicture } from '../parts/protected-picture.tsx';
import { describeMoment, MomentActions } from '../search/moment-card.tsx';
import { useSession } from '../session/session.ts';
import { routeUrls } from '../shell/routes.ts';
import { spokenTime } from '../time/format.ts';
import {
  findAlertAt,
  findClass,
  lifeOf,
  listSnoozes,
  type Lane,
  type Life,
  type SeenClass,
} from './lane-bars.ts';
import { stepShare } from './time-window.ts';

const classTexts: Record<SeenClass, string> = {
  judged: 'Judged: the model looked.',
  quiet: 'Quiet: watched, and nothing moved.',
  between: 'Between pictures: the stream was there, and nobody looked then.',
  not_seen: 'Not seen.',
};
const hourTexts: Record<SeenClass, string> = {
  judged: 'Most of this hour was judged.',
  quiet: 'Most of this hour was quiet: watched, and nothing moved.',
  between: 'Most of this hour was between pictures.',
  not_seen: 'Most of this hour was not seen.',
};

type Props = {
  lane: Lane | undefined;
  atMs: number | undefined;
  lengthMs: number;
  /** Lanes, which get what is at the cursor as a sentence. */
  children: (text: string) => ComponentChildren;
};

/** Shows what is known about the time at the cursor: its class, its alert, and a picture. */
export function LaneCursor({ lane, atMs, lengthMs, children }: Props) {
  const settled = useSettled(lane && atMs !== undefined ? { watchId: lane.watch.watch_id, atMs } : undefined);
  const moment = useMoment(settled, lengthMs);
  if (!lane || atMs === undefined)
    return (
      <>
        {children('No time chosen')}
        <p class="small muted">
          Tap or point at a lane.<span class="desk-only"> The arrow keys move, Enter shows more.</span>
        </p>
      </>
    );
  const toleranceMs = (stepShare / 2) * lengthMs;
  const now = Date.now();
  const alert = findAlertAt(lane.alerts, atMs, toleranceMs, now);
  const time = spokenTime(new Date(atMs).toISOString(), Date.now() + 1);
  const isSettled = settled?.watchId === lane.watch.watch_id;
  const isKnown = isSettled && atMs <= now + toleranceMs;
  const shown = isKnown && moment?.watch_id === lane.watch.watch_id ? moment : undefined;
  // A place with a picture is judged, also where an hour has more spans than are kept.
  const isPictured = [shown?.at, alert?.opened_at].some(
    (date) => date !== undefined && Math.abs(Date.parse(date) - atMs) <= toleranceMs,
  );
  const life = lifeOf(lane.watch, now);
  const sight = isPictured ? { kind: 'judged' as const, isOfHour: false } : findClass(lane.hours, atMs, life);
  const seen = sight ? (sight.isOfHour ? hourTexts : classTexts)[sight.kind] : unknownText(atMs, life);
  const facts = [seen, ...listFacts(lane, atMs, toleranceMs, alert)];
  const text = facts.join(' ');
  return (
    <>
      {children(`${lane.watch.name}, ${time}. ${text}`)}
      <div class="lane-detail">
        {alert && alert.frame_url !== null && isSettled ? (
          <ProtectedPicture path={`/alerts/${alert.alert_id}/frame`} alt={`Evidence: ${alert.explanation}`} />
        ) : (
          shown && (
            <ProtectedPicture path={`/moments/${shown.moment_id}/picture`} alt={describeMoment(shown)} />
          )
        )}
        <div>
          <p>
            <strong>{lane.watch.name}</strong> {time}
          </p>
          <p>{text}</p>
          {shown && !alert && (
            <p class="small muted">
              Newest picture before it, {spokenTime(shown.at, Date.now() + 1)}: {describeMoment(shown)}
            </p>
          )}
          {shown && !alert && <MomentActions key={shown.moment_id} moment={shown} watches={[lane.watch]} />}
          {alert && (
            <p class="small">
              <a href={`${routeUrls.alerts}/${alert.alert_id}`}>Open the alert</a>{' '}
              <span class="muted">{withoutDisclosure(alert.explanation)}</span>
            </p>
          )}
        </div>
      </div>
    </>
  );
}

/** Says which alert was open at a time, whether the watch was snoozed then, and what it saw meanwhile. */
function listFacts({ watch, unannounced }: Lane, atMs: number, toleranceMs: number, alert?: Alert): string[] {
  const isSnoozed = listSnoozes(watch).some(
    ({ from, to }) => Date.parse(from) <= atMs && atMs < Date.parse(to),
  );
  const seen = unannounced.find(({ at }) => Math.abs(Date.parse(at) - atMs) <= toleranceMs);
  const held = watch.conditions.filter(({ condition_id: id }) =>
    seen?.verdicts.some((verdict) => verdict.condition_id === id && verdict.triggered),
  );
  return [
    ...(alert ? [`Alert: ${alert.condition}.`] : []),
    ...(isSnoozed || seen ? ['Snoozed: no alert opened.'] : []),
    ...held.map(({ condition }) => `Seen meanwhile: ${condition}.`),
  ];
}

/** Time before the cursor in which a picture is searched, in milliseconds. */
const maxBeforeMs = 900_000;

/** Reads the newest judged picture up to a place of the cursor. */
function useMoment(place: { watchId: string; atMs: number } | undefined, lengthMs: number) {
  const { api } = useSession();
  const toMs = (place?.atMs ?? 0) + (stepShare / 2) * lengthMs;
  const load = async (signal: AbortSignal) => {
    if (!place) return undefined;
    const span = { from: new Date(toMs - maxBeforeMs).toISOString(), to: new Date(toMs).toISOString() };
    const { moments } = await api.moments({ watch_id: place.watchId, ...span, limit: 1 }, signal);
    return moments.find(({ picture_url: picture }) => picture !== null);
  };
  return useResource(load, [place?.watchId, place?.atMs]).value;
}

/** A check of an interval of 300 s is counted at its end. */
const countedAfterMs = 300_000;

function unknownText(atMs: number, { fromMs, toMs }: Life): string {
  if (atMs > toMs) return 'Still to come.';
  if (atMs < fromMs) return 'Not watched. The watch was created later.';
  return atMs > toMs - countedAfterMs ? 'Not checked yet, or not watched.' : 'Not watched.';
}

/** Time for which a cursor stands before a picture is requested, in milliseconds. */
const pauseMs = 120;

/**
 * Returns a place once the cursor has stood there for a moment: each of a move would be a request. A lane that is read
 * again stays the same place.
 */
function useSettled<T extends { watchId: string; atMs: number }>(value: T | undefined): T | undefined {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value?.watchId, value?.atMs]);
  return settled;
}
