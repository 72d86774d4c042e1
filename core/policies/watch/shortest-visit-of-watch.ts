import type { WatchCondition, WatchConfig } from '../../records/watch.ts';
import type { WatchRun } from '../../records/run.ts';
import { shortestVisitSeconds } from '../../sight/sure-visit.ts';
import { stretchedInterval } from '../../time.ts';

type Run = Pick<WatchRun, 'sight' | 'seen' | 'next'> & {
  config: Pick<WatchConfig, 'look_back' | 'interval_seconds' | 'confirm_seconds' | 'conditions'>;
};

/** Returns the shortest visit that each condition of a watch is sure to see, in seconds. */
export function shortestVisitOfWatch(run: Run): number {
  return Math.max(...run.config.conditions.map((rule) => shortestVisitOfCondition(run, rule)));
}

/**
 * Returns the shortest visit for which an alert of a condition is sure to open, in seconds. A confirming check waits
 * for a new segment.
 */
export function shortestVisitOfCondition(
  { config, sight, seen, next }: Run,
  {
    checks_to_open: checksToOpen,
    open_after_seconds: openAfterSeconds = 0,
  }: Pick<WatchCondition, 'checks_to_open' | 'open_after_seconds'>,
): number {
  const segmentSeconds = seen?.position.segment === null ? 0 : (seen?.position.segment_seconds ?? 0);
  const confirmSeconds = Math.max(config.confirm_seconds, segmentSeconds);
  const { check_seconds: checkSeconds = 0 } = sight;
  const interval = stretchedInterval(config.interval_seconds, next?.stretch ?? 1);
  // A check that takes longer than the interval leaves points of the grid out.
  const intervalSeconds = interval + (checkSeconds < interval ? 0 : checkSeconds);
  return shortestVisitSeconds(
    {
      openAfterSeconds,
      lookBack: config.look_back,
      intervalSeconds,
      confirmSeconds: Math.min(confirmSeconds, intervalSeconds),
      checkSeconds,
      segmentSeconds,
      checksToOpen,
    },
    sight.scan,
  );
}
