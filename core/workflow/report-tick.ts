import type { Observation } from '../policies/policy.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { Run } from '../records/run.ts';
import type { ClosureResult } from '../records/window-closure.ts';

/** Counts and logs a committed tick. */
export async function reportTick(
  run: Run,
  seen: Observation,
  closed: ClosureResult | undefined,
  { meter }: { meter: Pick<Meter, 'count'> },
  log: Log,
): Promise<void> {
  if (run.policy === 'watch' && (seen.kind === 'judged' || seen.kind === 'skipped'))
    await meter.count({ kind: 'watch_frame', skipped: seen.kind === 'skipped' });
  const fields = { tick: run.last_tick, outcome: seen.kind, status: run.status };
  if (closed?.result.kind === 'missed')
    log.warning('Summary failed', { ...fields, remediation: closed.result.failure.remediation });
  const { kind, failure, message = '', remediation = '' } = seen;
  if (failure) log.warning('Check failed', { ...fields, remediation: failure.remediation });
  else if (kind === 'capture_failed')
    log.warning('Capture failed', { ...fields, error: message, remediation });
  else log.debug('Tick committed', fields);
  if ('reason' in run && run.reason) log.info('Job ended', { status: run.status, reason: run.reason });
}
