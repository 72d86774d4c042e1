import { VisionError } from '../vision-errors.ts';
import { behindChecks, type AsCaller } from '../ports/callers.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { MomentStore } from '../ports/moment-store.ts';
import type { Called, VisionModel } from '../ports/vision-model.ts';
import { sumCalls, type TokenPrice } from '../policies/watch/budget.ts';
import type { Moment } from '../records/moment.ts';
import type { ModelCall, TokenUse } from '../records/vision.ts';
import { addSeconds } from '../time.ts';
import { createTimeLimit } from '../time-limit.ts';
import type { Candidate, SearchState } from './search-cursor.ts';

export type LookDeps = Pick<CoreDeps, 'media' | 'usage' | 'limits' | 'now'> & {
  moments: Pick<MomentStore, 'get'>;
  vision: Pick<VisionModel, 'words' | 'matches'>;
  modelPrice: TokenPrice | null;
  /** Absent where callers share no machine. */
  asCaller?: AsCaller | undefined;
};

/** Bounds of the calls of one request: its caller, its end and the maximum calls of the search. */
export type CallBounds = { caller: string; deadline: Date; maxCalls: number; signal: AbortSignal };

/** Time of one request, in seconds. */
const maxSeconds = 25;

export function boundCalls(caller: string, maxCalls: number, now: Date, signal: AbortSignal): CallBounds {
  return { caller, deadline: addSeconds(now, maxSeconds), maxCalls, signal };
}

/** Moment of a visit, and whether its picture shows what is searched; `null` if that is not known. */
export type Looked = { candidate: Candidate; moment: Moment; matched: boolean | null };

/** Time that a call needs to be of use, in seconds. */
const minCallSeconds = 5;

/** Calls so far, and their price. */
type Counted = { counts: Pick<SearchState['counts'], 'calls' | 'micro_usd'> };

/** Returns true if another call fits into the bounds. */
export function hasRoom({ counts }: Counted, { deadline, maxCalls }: CallBounds, now: Date): boolean {
  return counts.calls < maxCalls && deadline.getTime() - now.getTime() >= minCallSeconds * 1000;
}

/**
 * Lets the model look at the pictures of the first visits of a list, as many as fit into a call. Returns one entry for
 * each visit that is done, without those whose moment has expired meanwhile. A call that fails is repeated with one
 * picture; throws `VisionError` if that fails.
 */
export async function lookAtNext(
  candidates: readonly Candidate[],
  query: string,
  state: SearchState,
  bounds: CallBounds,
  deps: LookDeps,
): Promise<{ done: number; looked: Looked[] }> {
  const { counts } = state;
  const looked: Looked[] = [];
  const shown: { entry: Looked; picture: Uint8Array }[] = [];
  let done = 0;
  for (const candidate of candidates) {
    if (shown.length === state.pictures) break;
    done += 1;
    const moment = await deps.moments.get(bounds.caller, candidate.id, deps.now());
    if (!moment) continue;
    const picture = moment.frame_key === null ? undefined : await deps.media.get(moment.frame_key);
    const entry = { candidate, moment, matched: null };
    looked.push(entry);
    if (picture) shown.push({ entry, picture });
    else counts.gone += 1;
  }
  if (shown.length === 0) return { done, looked };
  const pictures = shown.map(({ picture }) => picture);
  try {
    const { matches, not_judged: notJudged } = await callModel(
      (signal) => deps.vision.matches(pictures, query, signal),
      state,
      bounds,
      deps,
    );
    for (const [index, { entry }] of shown.entries()) entry.matched = matches[index] ?? null;
    counts.looked += shown.length;
    counts.unjudged += shown.filter(({ entry }) => entry.matched === null).length;
    state.notJudged ??= notJudged?.slice(0, 1000) ?? null;
    return { done, looked };
  } catch (error) {
    if (!(error instanceof VisionError) || state.pictures === 1) throw error;
    counts.gone -= looked.length - shown.length;
    state.pictures = 1;
    return { done: 0, looked: [] };
  }
}

/**
 * Makes a model call of a search: behind all checks, in the use of its caller and within the time of the request.
 * Throws `VisionError`.
 */
export async function callModel<Result extends { tokens: TokenUse } & Called>(
  call: (signal: AbortSignal) => Promise<Result>,
  { counts }: Counted,
  { caller, deadline, signal }: CallBounds,
  {
    usage,
    limits,
    now,
    modelPrice,
    asCaller = async (_caller, work) => work(),
  }: Pick<LookDeps, 'usage' | 'limits' | 'now' | 'modelPrice' | 'asCaller'>,
): Promise<Result> {
  const seconds = Math.min(limits.visionTimeoutSeconds, (deadline.getTime() - now().getTime()) / 1000);
  const limit = createTimeLimit(Math.max(0, seconds), signal);
  const count = (calls: readonly ModelCall[]) => {
    const { model_calls: made, micro_usd: microUsd, unpriced_calls: unpriced } = sumCalls(modelPrice, calls);
    counts.calls += made;
    counts.micro_usd = unpriced > 0 || counts.micro_usd === null ? null : counts.micro_usd + microUsd;
  };
  try {
    const result = await usage.charge(caller, () => asCaller(behindChecks(caller), () => call(limit)));
    count(result.calls ?? [result.tokens]);
    return result;
  } catch (error) {
    if (error instanceof VisionError) count(error.calls);
    throw error;
  }
}

/** Counts the calls of a part of a search, and their price if it is known, also those of a part that fails. */
export async function counted<Result>(
  part: () => Promise<Result>,
  { counts }: Counted,
  isNew: boolean,
  { meter }: Pick<CoreDeps, 'meter'>,
): Promise<Result> {
  const { calls, micro_usd: microUsd } = counts;
  try {
    return await part();
  } finally {
    const spent = counts.micro_usd === null || microUsd === null ? 0 : counts.micro_usd - microUsd;
    await meter.count({ kind: 'search', isNew, calls: counts.calls - calls, microUsd: spent });
  }
}
