import type { z } from 'zod';
import type { Moment } from '../records/moment.ts';
import type { momentResponseSchema, searchResponseSchema } from '../responses/moments.ts';
import { maxGaps, selectLongest } from './gaps.ts';
import type { SearchResult } from './search-moments.ts';

type Base = { baseUrl: string };

export function presentMoment(stored: Moment, { baseUrl }: Base): z.input<typeof momentResponseSchema> {
  const { caller: _, frame_key: frameKey, verdicts, ...read } = stored;
  const { still: _still, unmoved: _unmoved, unchanged_seconds: _unchanged, ...moment } = read;
  return {
    ...moment,
    verdicts: verdicts.map(({ condition_id, triggered, explanation }) => ({
      condition_id,
      triggered,
      explanation,
    })),
    picture_url: frameKey === null ? null : `${baseUrl}/moments/${moment.moment_id}/picture`,
  };
}

export function presentSearch(
  { found: foundVisits, state, cursor, names, ...result }: SearchResult,
  maxCalls: number,
  base: Base,
): z.input<typeof searchResponseSchema> {
  const { counts, words } = state;
  const { visits, exact, calls, usd } = result.estimate;
  return {
    sentence: result.sentence,
    results: foundVisits.map(({ moment, from, to, openBegin, openEnd, matched }) => ({
      moment: presentMoment(moment, base),
      watch_name: names.get(moment.watch_id) ?? '',
      from: from.toISOString(),
      to: to.toISOString(),
      open_begin: openBegin,
      open_end: openEnd,
      matched,
    })),
    next_cursor: cursor,
    limit_reached: cursor !== null && counts.calls >= maxCalls,
    from: new Date(state.from).toISOString(),
    to: new Date(state.to).toISOString(),
    words,
    moments: counts.moments,
    matched_in_words: counts.matched,
    looked_at: counts.looked,
    not_judged: counts.unjudged,
    without_picture: counts.gone,
    model_calls: counts.calls,
    cost_usd: toUsd(counts.micro_usd),
    thorough: { visits, exact, model_calls: calls, cost_usd: usd },
    sure_from_seconds: result.sureSeconds,
    not_seen: selectLongest(result.unseen, maxGaps).map(({ from, to, ...gap }) => ({
      ...gap,
      from: from.toISOString(),
      to: to.toISOString(),
    })),
  };
}

export function toUsd(microUsd: number | null): number | null {
  return microUsd === null ? null : microUsd / 1_000_000;
}
