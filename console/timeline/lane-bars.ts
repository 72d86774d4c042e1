import type { Alert, Moment, Watch, WatchStats } from '../api/types.ts';
import type { TimeWindow } from './time-window.ts';

/** Lane of a watch in a window. */
export type Lane = {
  watch: Watch;
  hours: WatchStats['hours'];
  alerts: Alert[];
  /** Pictures in which a condition held while it was snoozed, newest first. */
  unannounced: Moment[];
};

/** Lanes of a window, with what people have to know about them. */
export type Lanes = { lanes: Lane[]; notes: string[] };

/** Makes lanes of what was read. One that cannot be read is empty and named; throws if none can be read. */
export function toLanes(
  watches: readonly Watch[],
  stats: readonly PromiseSettledResult<Pick<WatchStats, 'hours'>>[],
  { alerts, isCut }: { alerts: readonly Alert[]; isCut: boolean },
  unannounced: { moments: readonly Moment[]; isCut: boolean },
): Lanes {
  const lanes = watches.map((watch, index) => {
    const read = stats[index];
    const hours = read?.status === 'fulfilled' ? read.value.hours : undefined;
    const isOwn = ({ watch_id: id }: { watch_id: string }) => id === watch.watch_id;
    return { watch, hours, alerts: alerts.filter(isOwn), unannounced: unannounced.moments.filter(isOwn) };
  });
  const missing = lanes.filter(({ hours }) => hours === undefined).map(({ watch }) => watch.name);
  const failed = stats.find((read) => read.status === 'rejected');
  if (failed && missing.length === lanes.length) throw failed.reason;
  return {
    lanes: lanes.map(({ hours = [], ...lane }) => ({ ...lane, hours })),
    notes: [
      ...(missing.length > 0 ? [`Not read, try again: ${missing.join(', ')}.`] : []),
      ...(unannounced.isCut ? ['Not all of what was seen while snoozed is shown.'] : []),
      ...(isCut ? [`Only the newest ${alerts.length} alerts of this time are shown.`] : []),
    ],
  };
}

/** Class of a part of the active time. */
export type SeenClass = 'judged' | 'quiet' | 'between' | 'not_seen';

/** Rectangle of a lane, in shares of its width and height. */
export type Bar = { kind: SeenClass; x: number; width: number; y: number; height: number };

type Hour = Pick<
  WatchStats['hours'][number],
  'hour' | 'judged_seconds' | 'quiet_seconds' | 'between_seconds' | 'not_seen_seconds' | 'gaps' | 'spans'
>;
type AlertTimes = { opened_at: string; closed: Pick<NonNullable<Alert['closed']>, 'at'> | null };
type Stretch = { from: string; to: string };

/** Time from the creation of a watch until now. */
export type Life = { fromMs: number; toMs: number };

export function lifeOf({ created_at: created }: Pick<Watch, 'created_at'>, now: number): Life {
  return { fromMs: Date.parse(created), toMs: now };
}

const hourMs = 3_600_000;
/** Order from the bottom of an hour. */
const classes = ['judged', 'quiet', 'between', 'not_seen'] as const;

/**
 * Returns the bars of hours: the spans of each if it has them, else a column that its four classes share by their
 * seconds.
 */
export function toBars(hours: readonly Hour[], window: TimeWindow, life: Life): Bar[] {
  return hours.flatMap((hour) =>
    hour.spans ? toSpanBars(hour.spans, window) : toColumn(hour, window, life),
  );
}

function toSpanBars(spans: NonNullable<Hour['spans']>, window: TimeWindow): Bar[] {
  return spans.flatMap(({ from, to, class: kind }) => {
    const part = cut(Date.parse(from), Date.parse(to), window);
    return part ? [{ ...part, kind, y: 0, height: 1 }] : [];
  });
}

function toColumn(hour: Hour, window: TimeWindow, life: Life): Bar[] {
  const from = Math.max(Date.parse(hour.hour), life.fromMs);
  const to = Math.min(Date.parse(hour.hour) + hourMs, life.toMs);
  const part = cut(from, to, window);
  if (!part) return [];
  let top = 1;
  return classes.flatMap((kind) => {
    const height = Math.min(1, (hour[`${kind}_seconds`] * 1000) / (to - from));
    top -= height;
    return height === 0 ? [] : [{ ...part, kind, y: Math.max(0, top), height }];
  });
}

/** Least width of an alert, as a share: one of seconds would be invisible in a day. */
const minShare = 0.003;

/** Returns the times of alerts in a window, in shares of its width. An open one lasts until `now`. */
export function toAlertBars(alerts: readonly AlertTimes[], window: TimeWindow, now: number) {
  return alerts.flatMap(({ opened_at: openedAt, closed }) => {
    const part = cut(Date.parse(openedAt), closed ? Date.parse(closed.at) : now, window, 1);
    if (!part) return [];
    const width = Math.max(part.width, minShare);
    return [{ x: Math.min(part.x, 1 - width), width }];
  });
}

export function listSnoozes({ state }: Pick<Watch, 'state'>): Stretch[] {
  return state.conditions.flatMap(({ snoozes }) => snoozes);
}

/** Returns the parts of a span in which conditions were snoozed, as queries of moments name them. */
export function listSnoozedParts({ watch_id, state }: Pick<Watch, 'watch_id' | 'state'>, span: Stretch) {
  return state.conditions.flatMap(({ condition_id, snoozes }) =>
    snoozes
      .filter(({ from, to }) => from < span.to && to > span.from)
      .map(({ from, to }) => ({
        watch_id,
        condition_id,
        from: from > span.from ? from : span.from,
        to: to < span.to ? to : span.to,
      })),
  );
}

/** Returns the bars of snoozes, and of the pictures in which a condition held meanwhile. */
export function toSnoozeBars(
  { watch, unannounced }: Pick<Lane, 'watch' | 'unannounced'>,
  window: TimeWindow,
) {
  const snoozes = listSnoozes(watch).flatMap(
    ({ from, to }) => cut(Date.parse(from), Date.parse(to), window) ?? [],
  );
  const visits = unannounced.map(({ at }) => ({ opened_at: at, closed: { at } }));
  return [
    ...snoozes.map((part) => ({ ...part, kind: 'snoozed' as const, y: 0.88, height: 0.12 })),
    ...toAlertBars(visits, window, 0).map((part) => ({
      ...part,
      kind: 'unannounced' as const,
      y: 0,
      height: 0.45,
    })),
  ];
}

/** Returns one path for all bars of a kind, and one for the alerts: a day of 25 lanes has 2,400 bars. */
export function toPaths<Kind extends string>(
  bars: readonly (Omit<Bar, 'kind'> & { kind: Kind })[],
  alerts: readonly Pick<Bar, 'x' | 'width'>[],
) {
  const opened = alerts.map((alert) => ({ ...alert, kind: 'open' as const, y: 0, height: 0.45 }));
  return [...Map.groupBy([...bars, ...opened], ({ kind }) => kind)].map(([kind, all]) => ({
    kind,
    d: all.map(({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h${-width}z`).join(''),
  }));
}

/** Returns the class of a time of a lane, or that of most of its hour; undefined without a claim. */
export function findClass(
  hours: readonly Hour[],
  atMs: number,
  life: Life,
): { kind: SeenClass; isOfHour: boolean } | undefined {
  if (atMs < life.fromMs || atMs > life.toMs) return undefined;
  const hour = hours.find(({ hour: time }) => Date.parse(time) <= atMs && atMs < Date.parse(time) + hourMs);
  if (!hour) return undefined;
  const isIn = ({ from, to }: { from: string; to: string }) =>
    Date.parse(from) <= atMs && atMs < Date.parse(to);
  const exact = hour.gaps.some(isIn) ? 'not_seen' : hour.spans?.find(isIn)?.class;
  if (exact) return { kind: exact, isOfHour: false };
  const [largest] = classes.toSorted((one, other) => hour[`${other}_seconds`] - hour[`${one}_seconds`]);
  return hour.spans || !largest ? undefined : { kind: largest, isOfHour: true };
}

/** Returns the newest alert that was open at a time, give or take `toleranceMs`. An open one lasts until `now`. */
export function findAlertAt<Each extends AlertTimes>(
  alerts: readonly Each[],
  atMs: number,
  toleranceMs: number,
  now: number,
): Each | undefined {
  return alerts.find(({ opened_at: openedAt, closed }) => {
    const end = closed ? Date.parse(closed.at) : now;
    return Date.parse(openedAt) - toleranceMs <= atMs && atMs <= end + toleranceMs;
  });
}

/** Returns the part of a span in a window; undefined if they have none in common, or less than `minMs`. */
function cut(fromMs: number, toMs: number, { startMs, lengthMs }: TimeWindow, minMs = 0) {
  const from = Math.max(fromMs, startMs);
  const to = Math.min(Math.max(toMs, fromMs + minMs), startMs + lengthMs);
  return to <= from ? undefined : { x: (from - startMs) / lengthMs, width: (to - from) / lengthMs };
}
