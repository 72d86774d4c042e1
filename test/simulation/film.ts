import { isWatchEvent } from '../../core/records/run.ts';
import { start } from '../contract/records.ts';
import { newWatch } from '../support/watches/watch-world.ts';
import { Random } from './random.ts';
import { VisitedCamera, type StreamKind } from './visited-camera.ts';
import { createVisitedWatch } from './visited-watch.ts';

/** Visit of a film, in milliseconds since its begin. */
export type FilmVisit = { from: number; to: number };

/** Alert of a film: times in milliseconds since its begin. `toldAt`: of the tick that opened it. */
export type FilmAlert = { openedAt: number; seenFrom: number; toldAt: number; seenSeconds: number };

/** Makes a film of visits of 4 to 20 s with gaps of 3 to 20 s. */
export function makeFilm(seed: number, visits: number): FilmVisit[] {
  const random = new Random(seed);
  let at = 60_000;
  return Array.from({ length: visits }, () => {
    const from = at + random.integer(3000, 20_000);
    at = from + random.integer(4000, 20_000);
    return { from, to: at };
  });
}

/**
 * Watches a film in virtual time, with an alert on each visit. Returns the alerts in the order of their openings.
 * `phase`: of the checks, as a part of the interval.
 */
export async function watchFilm(
  film: readonly FilmVisit[],
  { kind, intervalSeconds, phase }: { kind: StreamKind; intervalSeconds: number; phase: number },
): Promise<FilmAlert[]> {
  const begin = start.getTime();
  const camera = new VisitedCamera(kind, begin - 3_600_000);
  for (const { from, to } of film)
    camera.visits.push({ from: begin + from, to: begin + to, share: 0.1, isOther: false });
  const plain = newWatch({ interval: intervalSeconds, phase: Math.floor(phase * intervalSeconds * 1000) });
  const closing = { alert_on: 'each_visit', checks_to_close: 2, close_after_seconds: 4 } as const;
  const conditions = plain.config.conditions.map((rule) => ({ ...rule, ...closing }));
  const watch = { ...plain, config: { ...plain.config, conditions } };
  const visited = createVisitedWatch(watch, camera, new Random(1));
  const end = begin + (film.at(-1)?.to ?? 0) + 120_000;
  let step = await visited.run.begin();
  const toldAt: number[] = [];
  while (visited.clock.now.getTime() < end) {
    step = await visited.tick(step);
    while (toldAt.length < visited.changes.length) toldAt.push(visited.clock.now.getTime() - begin);
  }
  const alerts = visited.changes.flatMap((change) => change.alerts ?? []);
  const toSeenFrom = (id: string) =>
    alerts.flatMap((each) =>
      each.kind === 'open' && each.alert.alert_id === id ? [each.alert.seen_from] : [],
    )[0];
  const events = visited.changes.flatMap((change, index) =>
    change.events.filter(isWatchEvent).map((event) => ({ event, toldAt: toldAt[index] ?? NaN })),
  );
  const closed = events.flatMap(({ event }) => (event.type === 'alert_closed' ? [event.data] : []));
  return events.flatMap(({ event, toldAt: at }) => {
    if (event.type !== 'alert_opened') return [];
    const { alert_id: id, opened_at: openedAt } = event.data;
    const seconds = closed.find((each) => each.alert_id === id)?.seen_seconds ?? NaN;
    const [opened, seenFrom] = [openedAt, toSeenFrom(id) ?? openedAt].map((time) => Date.parse(time) - begin);
    return [{ openedAt: opened!, seenFrom: seenFrom!, toldAt: at, seenSeconds: seconds }];
  });
}
