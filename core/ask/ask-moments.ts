import { Temporal } from 'temporal-polyfill';
import type { ForecastPrice } from '../advice/forecast.ts';
import type { CoreDeps } from '../dependencies.ts';
import { WatchNotFoundError } from '../errors.ts';
import { chooseCandidates, chooseOfEachVisit } from '../memory/choose-candidates.ts';
import { describeSight, listUnseen } from '../memory/describe-search.ts';
import { boundCalls, callModel, counted, type LookDeps } from '../memory/look-at-pictures.ts';
import { readMemory, type SearchedWatch, selectWatches, toMomentSpan } from '../memory/searched-watches.ts';
import { toStems } from '../memory/stems.ts';
import { selectEvenly } from '../policies/digest/summarize-windows.ts';
import { maxTiles } from '../ports/stream-capturer.ts';
import type { MomentStore } from '../ports/moment-store.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Moment } from '../records/moment.ts';
import type { Schedule } from '../records/watch.ts';
import { answerFromVisits, type ModelAnswer } from './answer-from-visits.ts';
import type { z } from 'zod';
import { presentMoment, toUsd } from '../memory/present-search.ts';
import type { askResponseSchema } from '../responses/moments.ts';

type AskDeps = Omit<LookDeps, 'moments' | 'vision'> &
  Pick<CoreDeps, 'watches' | 'meter'> & {
    moments: Pick<MomentStore, 'get' | 'list' | 'words'>;
    vision: Pick<VisionModel, 'capabilities' | 'answerAbout'>;
    modelPrice: ForecastPrice | null;
  };

type AskInput = {
  question: string;
  watchIds: readonly string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
};

export type AskResult = ModelAnswer & {
  from: Date;
  to: Date;
  counts: { calls: number; micro_usd: number | null };
  /** Sentence about what was seen, and what nobody saw. */
  sentence: string;
};

/** Maximum pictures of a question, and their bytes: a call between functions has 6 MB in base64. */
const maxPictures = 24;
const maxPictureBytes = 4_000_000;
const maxMatches = 500;
/** Moments by which visits are spread over the span. */
const maxSpread = 1000;

/**
 * Answers a question from the moments of a caller: from visits, or by one call about pictures. Throws
 * `WatchNotFoundError`, also if a watch that the answer is from is deleted meanwhile, `WatchpostError` for a blank
 * question or an empty span, and `VisionError`.
 */
export async function askMoments(
  input: AskInput,
  caller: string,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<AskResult> {
  const now = deps.now();
  const { span, watches } = await readMemory(input.question, input, caller, deps);
  const state = { counts: { calls: 0, micro_usd: 0 } };
  const { visits } = deps.vision.capabilities;
  const answered = visits
    ? await answerFromVisits(input.question, visits, watches, { caller, ...span, now }, deps)
    : await counted(
        () => askAboutPictures(input.question, watches, { caller, ...span, now, signal, state }, deps),
        state,
        true,
        deps,
      );
  const left = new Set((await selectWatches(input.watchIds, caller, deps)).map(({ run_id: id }) => id));
  const { shownIds = watches.map(({ watch }) => watch.run_id) } = answered;
  // A watch that was deleted meanwhile has no moments left: what they showed is no answer.
  if (shownIds.some((id) => !left.has(id))) throw new WatchNotFoundError();
  const { seen = watches, ...answer } = answered;
  const kept = seen.filter(({ watch, from, to }) => left.has(watch.run_id) && from < to);
  return {
    ...span,
    ...answer,
    counts: state.counts,
    sentence:
      kept.length === 0 ? 'No watch has a memory of this time.' : describeSight(kept, listUnseen(kept)),
  };
}

type Bounds = {
  caller: string;
  from: Date;
  to: Date;
  now: Date;
  signal: AbortSignal;
  state: { counts: { calls: number; micro_usd: number | null } };
};

/** Shows the model the best moments by words and others of the whole span. A statement without a picture is dropped. */
async function askAboutPictures(
  question: string,
  watches: readonly SearchedWatch[],
  { caller, from, to, now, signal, state }: Bounds,
  deps: AskDeps,
): Promise<ModelAnswer> {
  const most = Math.min(maxPictures, deps.vision.capabilities.maxPictures * maxTiles);
  const chosen = watches.length === 0 ? [] : await chooseMoments(question, watches, caller, to, most, deps);
  const read = (
    await Promise.all(
      chosen.map(async (moment) => {
        const frame = moment.frame_key === null ? undefined : await deps.media.get(moment.frame_key);
        return frame ? [{ moment, frame }] : [];
      }),
    )
  ).flat();
  const bytes = read.reduce((sum, { frame }) => sum + frame.length, 0);
  const shown = selectEvenly(read, Math.max(2, Math.floor((read.length * maxPictureBytes) / bytes)));
  if (shown.length === 0)
    return { statements: [], reason: 'There is no picture to answer from.', pictures: 0, shownIds: [] };
  const configs = new Map(watches.map(({ watch }) => [watch.run_id, watch.config]));
  const pictures = shown.map(({ moment: { watch_id: id, at, scene, verdicts }, frame }) => {
    const { name: camera = '', schedule } = configs.get(id) ?? {};
    const sentence = scene ?? verdicts.map(({ explanation }) => explanation).join(' ');
    return { frame, camera, time: formatLocal(new Date(at), schedule), sentence };
  });
  const shownIds = shown.map(({ moment }) => moment.watch_id);
  const clock = shownIds.map((id) => configs.get(id)?.schedule).find((one) => one);
  const [begin, end, asked] = [from, to, now].map((time) => formatLocal(time, clock));
  const dated = `${question} (Asked at ${asked}, about the time from ${begin} to ${end}, of which these are ${shown.length} pictures.)`;
  const bounds = boundCalls(caller, 1, now, signal);
  const { statements, shown: count = shown.length } = await callModel(
    (ends) => deps.vision.answerAbout(pictures, dated, ends),
    state,
    bounds,
    deps,
  );
  const kept = statements.flatMap(({ text, pictures: numbers }) => {
    const moments = [...new Set(numbers)].flatMap((number) => shown[number - 1]?.moment ?? []);
    return moments.length === 0 ? [] : [{ text, moments }];
  });
  const reason = kept.length > 0 ? null : 'The pictures do not answer this question.';
  const held = stateHeld(shown.map(({ moment }) => moment));
  return { statements: [...kept, ...held], reason, pictures: count, shownIds };
}

/** Formats a time by the clock of a watch: "2026-11-28T03:00:00+01:00". */
function formatLocal(time: Date, schedule: Schedule | null = null): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(
    schedule?.time_zone ?? 'UTC',
  );
  return zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' });
}

/** States what the checks found: it stays so if a text in a picture makes the model deny it. */
function stateHeld(shown: readonly Moment[]): ModelAnswer['statements'] {
  const moments = shown.filter(({ verdicts }) => verdicts.some(({ triggered }) => triggered));
  const text = `When they were checked, a condition held in ${moments.length} of these pictures.`;
  return moments.length === 0 ? [] : [{ text, moments }];
}

/** Chooses the best moments by words, and fills up with visits spread over the span. In the order of their times. */
async function chooseMoments(
  question: string,
  watches: readonly SearchedWatch[],
  caller: string,
  to: Date,
  most: number,
  deps: AskDeps,
): Promise<Moment[]> {
  const now = deps.now();
  const span = toMomentSpan(caller, watches, to);
  const { matches } = await deps.moments.words(span, { own: toStems(question), added: [] }, maxMatches, now);
  const best = chooseCandidates(matches, watches).slice(0, Math.ceil(most / 2));
  const chosen = new Map<string, Moment>();
  for (const { id } of best) {
    const moment = await deps.moments.get(caller, id, now);
    if (moment) chosen.set(id, moment);
  }
  const { moments } = await deps.moments.list({ ...span, limit: maxSpread }, now);
  const byWatch = Map.groupBy(moments, ({ watch_id: id }) => id);
  const ids = watches
    .flatMap(({ watch, spans }) => chooseOfEachVisit(byWatch.get(watch.run_id) ?? [], spans))
    .toSorted((one, other) => +one.visit.from - +other.visit.from)
    .map(({ candidate }) => candidate.id)
    .filter((id) => !chosen.has(id));
  const left = most - chosen.size;
  const step = Math.max(1, ids.length / Math.max(1, left));
  const byId = new Map(moments.map((moment) => [moment.moment_id, moment]));
  for (let place = 0; place < ids.length && chosen.size < most; place += step) {
    const moment = byId.get(ids[Math.floor(place)] ?? '');
    if (moment) chosen.set(moment.moment_id, moment);
  }
  return [...chosen.values()].toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

export function presentAnswer(
  { statements, reason, pictures, counts, sentence, from, to, listedFrom }: AskResult,
  base: { baseUrl: string },
): z.input<typeof askResponseSchema> {
  return {
    answered: reason === null,
    answer: reason ?? statements.map(({ text }) => text).join(' '),
    statements: statements.map(({ text, moments }) => ({
      text,
      moments: moments.map((moment) => presentMoment(moment, base)),
    })),
    next_to: listedFrom?.toISOString() ?? null,
    sentence,
    from: from.toISOString(),
    to: to.toISOString(),
    pictures,
    model_calls: counts.calls,
    cost_usd: toUsd(counts.micro_usd),
  };
}
