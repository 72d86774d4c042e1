import type { BacktestRequest, BacktestResult } from '../api/types.ts';

/**
 * Runs requests of a backtest until its end, its budget, a failure of the model, or the abort. Calls `onResponse` after
 * each.
 */
export async function runBacktest(
  send: (body: BacktestRequest, signal: AbortSignal) => Promise<BacktestResult>,
  maxCalls: number,
  onResponse: (response: BacktestResult) => void,
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | null = null;
  do {
    const body: BacktestRequest = { max_calls: maxCalls, ...(cursor !== null && { cursor }) };
    const response = await send(body, signal);
    if (signal.aborted) return;
    onResponse(response);
    if (response.stopped === 'calls' || response.stopped === 'model') return;
    cursor = response.next_cursor;
  } while (cursor !== null);
}
