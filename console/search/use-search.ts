import { useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../api/api.ts';
import { asProblem, type Problem } from '../api/problem.ts';
import type { MomentSearchResult } from '../api/types.ts';
import { useSession } from '../session/session.ts';

/** Search under way, or its end. */
export type SearchState = {
  query: string;
  thorough: boolean;
  isRunning: boolean;
  results: MomentSearchResult['results'];
  /** Newest response; undefined before the first. */
  newest?: MomentSearchResult;
  problem?: Problem;
};

/** Model calls of one request: few, so that a page shows how far the search is. */
const callsPerRequest = 4;
/** Model calls of a search by words. */
const maxCalls = 20;

type Wanted = { query: string; thorough: boolean; maxCalls: number };

/** Runs requests of a search until its end, its budget, or the abort. Calls `onResponse` after each. */
export async function runSearch(
  search: Api['searchMoments'],
  { query, thorough, maxCalls: budget }: Wanted,
  onResponse: (response: MomentSearchResult) => void,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined;
  for (let calls = Math.min(callsPerRequest, budget); ; calls = Math.min(calls + callsPerRequest, budget)) {
    const body = { query, thorough, max_calls: calls, limit: 100, ...(cursor !== undefined && { cursor }) };
    const response = await search(body, signal);
    if (signal.aborted) return;
    onResponse(response);
    if (response.next_cursor === null || (response.limit_reached && calls >= budget)) return;
    cursor = response.next_cursor;
  }
}

/** Runs one search at a time. A new one, and leaving the page, abort the one before. */
export function useSearch() {
  const { api } = useSession();
  const [state, setState] = useState<SearchState>();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const start = async (query: string, thorough?: MomentSearchResult['thorough']) => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    const { signal } = controller;
    const wanted = { query, thorough: thorough !== undefined, maxCalls: thorough?.model_calls ?? maxCalls };
    setState({ query, thorough: wanted.thorough, isRunning: true, results: [] });
    const update = (part: (before: SearchState) => Partial<SearchState>) =>
      !signal.aborted && setState((before) => before && { ...before, ...part(before) });
    try {
      await runSearch(
        (body) => api.searchMoments(body, signal),
        wanted,
        (newest) => update(({ results }) => ({ newest, results: [...results, ...newest.results] })),
        signal,
      );
    } catch (error) {
      update(() => ({ problem: asProblem(error) }));
    }
    update(() => ({ isRunning: false }));
  };
  const stop = () => {
    abort.current?.abort();
    setState((before) => before && { ...before, isRunning: false });
  };
  const clear = () => {
    abort.current?.abort();
    setState(undefined);
  };
  return { state, start, stop, clear };
}

const opening = /^(?:who|what|where|why|how|when|was|were|did|is there|are there|has|have)\b/i;

/** Returns whether a text asks a question, rather than naming what is searched. */
export function isQuestion(text: string): boolean {
  return text.trimEnd().endsWith('?') || opening.test(text.trimStart());
}
