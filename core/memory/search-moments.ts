import type { ForecastPrice } from '../advice/forecast.ts';
import type { CoreDeps } from '../dependencies.ts';
import { VisionError } from '../vision-errors.ts';
import type { LinkSigner } from '../ports/delivery.ts';
import type { MomentStore } from '../ports/moment-store.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Moment } from '../records/moment.ts';
import { chooseCandidates, chooseOfEachVisit } from './choose-candidates.ts';
import {
  describeSearch,
  type Estimate,
  listUnseen,
  sureSeconds,
  type UnseenSpan,
} from './describe-search.ts';
import {
  boundCalls,
  type CallBounds,
  callModel,
  counted,
  hasRoom,
  lookAtNext,
  type LookDeps,
} from './look-at-pictures.ts';
import { readCursor, searchStateSchema, type SearchState, writeCursor } from './search-cursor.ts';
import { readMemory, type SearchedWatch, toMomentSpan } from './searched-watches.ts';
import { toStems } from './stems.ts';

export type SearchDeps = LookDeps &
  Pick<CoreDeps, 'watches' | 'meter'> & {
    moments: Pick<MomentStore, 'get' | 'list' | 'words' | 'count'>;
    vision: Pick<VisionModel, 'words' | 'matches' | 'capabilities'>;
    modelPrice: ForecastPrice | null;
    evidenceLinks: { signer: LinkSigner };
  };

export type SearchInput = {
  query: string;
  watchIds: readonly string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  limit: number;
  maxCalls: number;
  thorough: boolean;
  cursor: string | undefined;
};

/** Visit that a search has found. `matched` is `null` if its picture is gone, or the model cannot judge the query. */
export type FoundVisit = {
  moment: Moment;
  from: Date;
  to: Date;
  openBegin: boolean;
  openEnd: boolean;
  matched: boolean | null;
};

export type SearchResult = {
  found: FoundVisit[];
  state: SearchState;
  /** `null` at the end of the search. */
  cursor: string | null;
  estimate: Estimate;
  sureSeconds: number | null;
  /** Names of the watches, by their ids. */
  names: ReadonlyMap<string, string>;
  unseen: UnseenSpan[];
  sentence: string;
};

/** Moments with the words of a query that are ranked. */
const maxMatches = 2_000;
/** Moments by which visits are counted. */
const maxEstimated = 1_000;
const pageSize = 200;
/** Tokens of the prompt of a look, and of its answer about a picture. */
const [promptTokens, answerTokens] = [300, 15];

/**
 * Searches moments of a caller. Returns what is found within `maxSeconds`, with a cursor for the rest. Throws
 * `WatchNotFoundError`, `WatchpostError` for a blank query, an empty span or a foreign cursor, and `VisionError` if the
 * model fails before it has checked a picture.
 */
export async function searchMoments(
  input: SearchInput,
  caller: string,
  deps: SearchDeps,
  signal: AbortSignal,
): Promise<SearchResult> {
  const request = [caller, input.query, input.watchIds, input.from, input.to, input.thorough] as const;
  const { signer } = deps.evidenceLinks;
  const before = await readCursor(input.cursor, request, searchStateSchema, signer);
  const bounds = boundCalls(caller, input.maxCalls, deps.now(), signal);
  const asked = before && { from: new Date(before.from), to: new Date(before.to) };
  const { span, watches } = await readMemory(input.query, { ...input, ...asked }, caller, deps);
  const state = before ?? newState({ ...span, from: earliest(watches) ?? span.from }, deps);
  // Another model may have answered before.
  state.pictures = Math.min(state.pictures, deps.vision.capabilities.maxPictures);
  const looks = input.thorough ? lookThoroughly : lookByWords;
  const { found, isDone } = await counted(
    async () => {
      if (!before) await begin(input, watches, state, bounds, deps);
      return looks(input, watches, state, bounds, deps);
    },
    state,
    !before,
    deps,
  );
  state.counts.found += found.length;
  const estimate = estimateThorough(state, deps);
  const unseen = listUnseen(watches);
  return {
    found,
    state,
    cursor: isDone ? null : await writeCursor(state, request, signer),
    estimate,
    sureSeconds: sureSeconds(watches),
    names: new Map(watches.map(({ watch }) => [watch.run_id, watch.config.name])),
    unseen,
    sentence: describeSearch({
      state,
      isThorough: input.thorough,
      isDone,
      estimate,
      watches,
      unseen,
    }),
  };
}

function newState({ from, to }: { from: Date; to: Date }, { vision }: SearchDeps): SearchState {
  return {
    from: from.getTime(),
    to: to.getTime(),
    words: [],
    counts: { moments: 0, matched: 0, found: 0, looked: 0, unjudged: 0, gone: 0, calls: 0, micro_usd: 0 },
    visits: { count: 0, exact: true, calls: 0 },
    unreadBefore: null,
    notJudged: null,
    candidates: [],
    place: { watch: '', after: null, joined: false },
    pictures: vision.capabilities.maxPictures,
  };
}

/** Begins a search: estimates its visits, and finds moments by words unless it is thorough. */
async function begin(
  { query, thorough }: SearchInput,
  watches: readonly SearchedWatch[],
  state: SearchState,
  bounds: CallBounds,
  deps: SearchDeps,
): Promise<void> {
  const span = toMomentSpan(bounds.caller, watches, new Date(state.to));
  if (!thorough && watches.length > 0) {
    state.words = await readWords(query, state, bounds, deps);
    await readCandidates(query, watches, state, bounds, deps);
  } else state.counts.moments = await deps.moments.count(span, deps.now());
  const all = thorough ? state.counts.moments : await deps.moments.count(span, deps.now());
  const { moments } = await deps.moments.list({ ...span, limit: maxEstimated }, deps.now());
  const byWatch = Map.groupBy(moments, ({ watch_id: id }) => id);
  const exact = moments.length >= all;
  const share = exact ? 1 : all / Math.max(1, moments.length);
  const counts = watches.map(({ watch, spans }) => {
    const own = byWatch.get(watch.run_id) ?? [];
    const visits = chooseOfEachVisit(own, spans).length;
    // The last call of a page may have fewer pictures.
    const calls = Math.ceil(visits / state.pictures) + Math.floor(own.length / pageSize);
    return { visits, calls };
  });
  const total = (name: 'visits' | 'calls') =>
    share * counts.reduce((sum, { [name]: count }) => sum + count, 0);
  state.visits = { count: Math.round(total('visits')), calls: Math.ceil(total('calls')), exact };
}

/** Finds the next moments by words, newest first. */
async function readCandidates(
  query: string,
  watches: readonly SearchedWatch[],
  state: SearchState,
  { caller }: CallBounds,
  deps: SearchDeps,
): Promise<void> {
  const own = toStems(query);
  const stems = { own, added: toStems(state.words.join(' ')).filter((stem) => !own.includes(stem)) };
  const span = toMomentSpan(caller, watches, new Date(state.unreadBefore ?? state.to));
  const { matches, read, readFrom } = await deps.moments.words(span, stems, maxMatches, deps.now());
  state.counts.matched += matches.length;
  state.counts.moments += read;
  state.unreadBefore = readFrom;
  state.candidates = chooseCandidates(matches, watches);
}

/** Requests words of the model. Without them, those of the query are searched. */
async function readWords(query: string, state: SearchState, bounds: CallBounds, deps: SearchDeps) {
  if (!hasRoom(state, bounds, deps.now())) return [];
  try {
    const { words } = await callModel((signal) => deps.vision.words(query, signal), state, bounds, deps);
    return words;
  } catch (error) {
    if (bounds.signal.aborted || !(error instanceof VisionError)) throw error;
    return [];
  }
}

function earliest(watches: readonly SearchedWatch[]): Date | undefined {
  const [first] = watches.map(({ from }) => from).toSorted((a, b) => a.getTime() - b.getTime());
  return first;
}

type Looks = { found: FoundVisit[]; isDone: boolean };

/** Checks the best moments by words. */
async function lookByWords(
  { query, limit }: SearchInput,
  watches: readonly SearchedWatch[],
  state: SearchState,
  bounds: CallBounds,
  deps: SearchDeps,
): Promise<Looks> {
  const hits: FoundVisit[] = [];
  const before = state.counts.looked;
  const isLeft = () => state.candidates.length > 0 || state.unreadBefore !== null;
  while (isLeft() && hits.length < limit && hasRoom(state, bounds, deps.now())) {
    if (state.candidates.length === 0) await readCandidates(query, watches, state, bounds, deps);
    const step = await lookOrEnd(
      () => lookAtNext(state.candidates.slice(0, limit - hits.length), query, state, bounds, deps),
      state,
      before,
    );
    if (step === undefined) break;
    state.candidates = state.candidates.slice(step.done);
    for (const { candidate, moment, matched } of step.looked)
      if (matched !== false) hits.push({ moment, matched, ...toEnds(candidate) });
  }
  return { found: hits, isDone: !isLeft() };
}

/** Checks a picture of each visit, watch by watch, newest first. Visits that match and follow each other are one. */
async function lookThoroughly(
  { query, limit }: SearchInput,
  watches: readonly SearchedWatch[],
  state: SearchState,
  bounds: CallBounds,
  deps: SearchDeps,
): Promise<Looks> {
  const { place } = state;
  const hits: FoundVisit[] = [];
  const before = state.counts.looked;
  // A watch may be deleted between two calls: the next one follows by its id.
  const ordered = watches.toSorted((one, other) => (one.watch.run_id < other.watch.run_id ? -1 : 1));
  let index = ordered.findIndex(({ watch }) => watch.run_id >= place.watch);
  for (let watch = ordered[index]; watch; watch = ordered[index]) {
    const { run_id: id } = watch.watch;
    if (place.watch !== id) Object.assign(place, { watch: id, after: null, joined: false });
    const { visits, isLast } = await readVisits(watch, state, bounds, deps);
    let left = visits;
    while (left.length > 0) {
      if (hits.length >= limit || !hasRoom(state, bounds, deps.now())) return { found: hits, isDone: false };
      const candidates = left.slice(0, limit - hits.length).map(({ candidate }) => candidate);
      const step = await lookOrEnd(() => lookAtNext(candidates, query, state, bounds, deps), state, before);
      if (step === undefined) return { found: hits, isDone: false };
      for (const { candidate, moment, matched } of step.looked) {
        const last = hits.at(-1);
        const isJoined = place.joined && !candidate.open[1];
        if (matched === true && isJoined && last) last.from = new Date(candidate.from);
        else if (matched === true && !isJoined) hits.push({ moment, matched, ...toEnds(candidate) });
        place.joined = matched === true;
      }
      const oldest = left[step.done - 1]?.visit.moments[0];
      if (oldest) place.after = { at: oldest.at, moment_id: oldest.moment_id };
      left = left.slice(step.done);
    }
    if (isLast) index += 1;
  }
  return { found: hits, isDone: true };
}

/** Reads the next visits of a watch. The oldest one of a page may continue in the next page, and is left to it. */
async function readVisits(
  { watch, from, spans }: SearchedWatch,
  { place, to }: SearchState,
  { caller }: CallBounds,
  deps: SearchDeps,
) {
  const page = await deps.moments.list(
    {
      caller,
      watches: [{ watchId: watch.run_id, from }],
      to: new Date(to),
      limit: pageSize,
      ...(place.after && { after: place.after }),
    },
    deps.now(),
  );
  const visits = chooseOfEachVisit(page.moments, spans);
  return page.next === null || visits.length < 2
    ? { visits, isLast: page.next === null }
    : { visits: visits.slice(0, -1), isLast: false };
}

/** Makes a step; undefined if the model fails after it has checked pictures in this request. */
async function lookOrEnd<Step>(
  look: () => Promise<Step>,
  { counts }: SearchState,
  lookedBefore: number,
): Promise<Step | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof VisionError && counts.looked > lookedBefore) return undefined;
    throw error;
  }
}

function toEnds({ from, to, open: [openBegin, openEnd] }: SearchState['candidates'][number]) {
  return { from: new Date(from), to: new Date(to), openBegin, openEnd };
}

function estimateThorough({ visits }: SearchState, { modelPrice: price }: SearchDeps): Estimate {
  const { count, exact, calls } = visits;
  const usd =
    price &&
    (calls * promptTokens + count * price.pictureTokens) * price.input + count * answerTokens * price.output;
  return { visits: count, exact, calls, usd };
}
