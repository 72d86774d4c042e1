import type { WatchCondition, WatchConfig } from '../../records/watch.ts';
import type { WatchRun } from '../../records/watch-run.ts';
import { shortestVisitSeconds } from '../../sight/shortest-visit.ts';

type Run = Pick<WatchRun, 'sight' | 'seen'> & {
  config: Pick<WatchConfig, 'look_back' | 'interval_seconds' | 'confirm_seconds' | 'conditions'>;
};

/** Returns the shortest visit that each condition of a watch is sure to see, in seconds. */
export function shortestVisitOfWatch(run: Run): number {
  return Math.max(...run.config.conditions.map((rule) => shortestVisitOfCondition(run, rule)));
}

/** Returns the shortest visit that a condition is sure to see, in seconds. A confirming check waits for a new segment. */
export function shortestVisitOfCondition(
  { config, sight, seen }: Run,
  { checks_to_open: checksToOpen }: Pick<WatchCondition, 'checks_to_open'>,
): number {
  const segmentSeconds = seen?.position.segment === null ? 0 : (seen?.position.segment_seconds ?? 0);
  const confirmSeconds = Math.max(config.confirm_seconds, segmentSeconds);
  const intervalSeconds = config.interval_seconds;
  return shortestVisitSeconds(
    {
      lookBack: config.look_back,
      intervalSeconds,
      confirmSeconds: Math.min(confirmSeconds, intervalSeconds),
      checksToOpen,
    },
    sight.scan,
  );
}
