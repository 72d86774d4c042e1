import type { z } from 'zod';
import type { CoreDeps } from '../dependencies.ts';
import { presentMoment, toUsd } from '../memory/present-search.ts';
import { readMomentId } from '../records/moment.ts';
import type { backtestResponseSchema } from '../responses/backtest.ts';
import type { BacktestAlert, BacktestResult } from './backtest-watch.ts';

type Response = z.input<typeof backtestResponseSchema>;
type Deps = Pick<CoreDeps, 'moments' | 'baseUrl' | 'now'>;

/** Presents a backtest. Pictures that are gone meanwhile have no URL. */
export async function presentBacktest(
  { alerts, open, possible, state, cursor, stopped, sentence }: BacktestResult,
  caller: string,
  deps: Deps,
): Promise<Response> {
  const { from, to, after, counts, estimate } = state;
  const present = async (listed: readonly BacktestAlert[]) =>
    Promise.all(listed.map((alert) => presentAlert(alert, caller, deps)));
  return {
    sentence,
    alerts: await present(alerts),
    open: await present(open),
    possible: await present(possible),
    next_cursor: cursor,
    stopped,
    from: toTime(from),
    to: toTime(to),
    played_to: toTime(cursor === null && stopped === null ? to : (after?.at ?? from)),
    moments: counts.moments,
    without_picture: counts.gone,
    not_judged: counts.unjudged,
    model_calls: counts.calls,
    cost_usd: toUsd(counts.micro_usd),
    estimate: {
      moments: estimate.moments,
      model_calls: estimate.calls,
      cost_usd: toUsd(estimate.micro_usd),
      exact: estimate.exact,
    },
  };
}

async function presentAlert(
  { rule, shown, moments: ids, ...alert }: BacktestAlert,
  caller: string,
  deps: Deps,
): Promise<Response['alerts'][number]> {
  const read = async (id: string) => {
    const moment = await deps.moments.get(caller, id, deps.now());
    return [id, moment ? presentMoment(moment, deps).picture_url : null] as const;
  };
  const urls = new Map(await Promise.all([...new Set([shown, ...ids])].map(read)));
  const moments = ids.map((id) => ({
    moment_id: id,
    at: (readMomentId(id)?.at ?? new Date(alert.opened_at)).toISOString(),
    picture_url: urls.get(id) ?? null,
  }));
  const { condition_id, condition } = rule;
  return { condition_id, condition, ...alert, picture_url: urls.get(shown) ?? null, moments };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
