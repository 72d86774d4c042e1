import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import { WatchpostError } from '../errors.ts';
import type { MomentPosition } from '../ports/moment-store.ts';
import type { Moment } from '../records/moment.ts';
import { asWatch } from '../records/run.ts';
import type { momentListResponseSchema, watchedSchema } from '../responses/moments.ts';
import { sumSpans } from '../sight/spans.ts';
import { addSeconds, earlier, later } from '../time.ts';
import { sureSeconds } from './describe-search.ts';
import { joinGaps, listGaps, maxGaps, selectLongest } from './gaps.ts';
import { presentMoment } from './present-search.ts';
import { limitSpan, readSpans, selectWatches, toMomentSpan, type SearchedWatch } from './searched-watches.ts';

type Deps = Pick<CoreDeps, 'moments' | 'watches' | 'baseUrl' | 'now'>;
type MomentDeps = Pick<CoreDeps, 'moments' | 'runs' | 'now'>;

export type MomentListInput = {
  watchId: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
  conditionId: string | undefined;
  triggered: boolean | null | undefined;
  reviewed: boolean;
  after: MomentPosition | undefined;
  limit: number;
};

/**
 * Returns a page of the moments of a caller, with what was seen in the span. Throws `WatchNotFoundError`, and
 * `BAD_REQUEST` for an end before the begin.
 */
export async function listMoments(
  { watchId, from, to, after, ...rest }: MomentListInput,
  caller: string,
  deps: Deps,
): Promise<z.input<typeof momentListResponseSchema>> {
  const now = deps.now();
  // The default includes what was judged in this millisecond.
  const end = new Date(now.getTime() + 1);
  const watches = await selectWatches(watchId === undefined ? undefined : [watchId], caller, deps);
  const span = limitSpan({ from, to }, end);
  const read = after
    ? watches.map((watch) => ({
        watch,
        ...span,
        from: later(span.from, beginOf(watch, now)),
        spans: [],
        sureSeconds: 0,
      }))
    : await readSpans(watches, span, deps);
  const query = { ...toMomentSpan(caller, read, span.to), ...rest, after };
  const [page, released] = await Promise.all([
    deps.moments.list(query, now),
    Promise.all(watches.map(({ run_id: id }) => deps.moments.picturesKeptFrom(id))),
  ]);
  const newest = released.flatMap((time) => time ?? []).reduce(later, new Date(0));
  return {
    moments: page.moments.map((moment) => presentMoment(moment, deps)),
    next_after: page.next?.moment_id ?? null,
    watched: after ? null : presentWatched(read, span),
    pictures_kept_from: newest.getTime() === 0 ? null : newest.toISOString(),
  };
}

/**
 * Reads a moment of a caller. Throws `NOT_FOUND` for one that is gone, is no longer remembered, or belongs to another
 * caller.
 */
export async function requireOwnMoment(momentId: string, caller: string, deps: MomentDeps): Promise<Moment> {
  const moment = await deps.moments.get(caller, momentId, deps.now());
  const watch = moment && asWatch(await deps.runs.get(moment.watch_id, deps.now()));
  if (!watch || new Date(moment.at) < keptSince(watch, deps.now()))
    throw new WatchpostError(
      'NOT_FOUND',
      'No such moment',
      'Moments are kept for memory_days of their watch. Read ids from GET /moments.',
    );
  return moment;
}

/** Reads the picture of a moment, as JPEG. Throws `NOT_FOUND` also if it was not kept or had to make room. */
export async function readMomentPicture(
  momentId: string,
  caller: string,
  deps: MomentDeps & Pick<CoreDeps, 'media'>,
): Promise<Uint8Array> {
  const { frame_key: key } = await requireOwnMoment(momentId, caller, deps);
  const picture = key === null ? undefined : await deps.media.get(key);
  if (picture) return picture;
  throw new WatchpostError(
    'NOT_FOUND',
    'This moment has no picture',
    'Pictures are kept for memory_days of the watch, and at most WATCHPOST_MEDIA_MB of them on one machine.',
  );
}

function keptSince({ config }: SearchedWatch['watch'], now: Date): Date {
  return addSeconds(now, -config.memory_days * 86_400);
}

/** The first check may look back to before the creation, which is no time of the watch. */
function beginOf(watch: SearchedWatch['watch'], now: Date): Date {
  return later(keptSince(watch, now), new Date(watch.created_at));
}

function presentWatched(
  watches: readonly SearchedWatch[],
  { from, to }: { from: Date; to: Date },
): z.input<typeof watchedSchema> {
  const sum = sumSpans(watches.flatMap(({ spans }) => spans));
  const active = sum.judged + sum.quiet + sum.between + sum.not_seen;
  const gaps = watches.flatMap((watch) => joinGaps(listGaps(watch)));
  const begins = watches.map((watch) => watch.from);
  return {
    from: (begins.length === 0 ? from : begins.reduce(earlier)).toISOString(),
    to: to.toISOString(),
    judged_seconds: round(sum.judged),
    quiet_seconds: round(sum.quiet),
    between_seconds: round(sum.between),
    not_seen_seconds: round(sum.not_seen),
    gaps: selectLongest(gaps, maxGaps).map((gap) => ({
      ...gap,
      from: gap.from.toISOString(),
      to: gap.to.toISOString(),
    })),
    coverage: active === 0 ? null : (active - sum.not_seen) / active,
    sure_from_seconds: sureSeconds(watches),
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

type ReviewDeps = Pick<CoreDeps, 'moments' | 'watches' | 'runs' | 'now'>;

/** Longest time from the first picture of a visit to its alert, in seconds: ten checks with the longest interval. */
const maxConfirmingSeconds = 3600;
/** More than the alerts of a condition in that time. */
const maxAlerts = 500;

/**
 * Stores a person's judgement of a condition in a moment. It replaces an earlier one and changes no state. A condition
 * that holds is missed unless an alert of it was open then, or opened about its visit. Throws `NOT_FOUND` for a moment
 * that is gone or is another caller's, and `BAD_REQUEST` for another condition than one of the watch.
 */
export async function reviewOwnMoment(
  momentId: string,
  { conditionId, holds }: { conditionId: string; holds: boolean },
  caller: string,
  by: string,
  deps: ReviewDeps,
): Promise<Moment> {
  const { watch_id: watchId, at: momentAt } = await requireOwnMoment(momentId, caller, deps);
  const watch = asWatch(await deps.runs.get(watchId, deps.now()));
  const rule = watch?.config.conditions.find(({ condition_id: id }) => id === conditionId);
  if (!rule)
    throw new WatchpostError(
      'BAD_REQUEST',
      `The watch has no condition ${conditionId}`,
      'Use the condition_id of one of its conditions.',
    );
  const from = new Date(momentAt);
  const to = addSeconds(from, (rule.open_after_seconds ?? 0) + maxConfirmingSeconds);
  const query = { caller, watchId, conditionId, from, to, limit: maxAlerts };
  const alerts = await deps.watches.alerts(query, deps.now());
  const isAlerted = alerts.some(({ opened_at: opened, seen_from: since = opened }) => since <= momentAt);
  const { condition } = rule;
  const review = {
    condition_id: conditionId,
    condition,
    holds,
    missed: holds && !isAlerted,
    at: deps.now().toISOString(),
    by,
  };
  const reviewed = await deps.moments.review(caller, momentId, review, deps.now());
  // It expired meanwhile.
  return reviewed ?? requireOwnMoment(momentId, caller, deps);
}
