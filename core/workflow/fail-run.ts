import type { CoreDeps, Limits } from '../dependencies.ts';
import { failJob } from '../job/end-job.ts';
import type { Executions } from '../ports/executions.ts';
import type { RunStore } from '../ports/run-store.ts';
import { toLogKey, type Run, type WatchRun } from '../records/run.ts';
import { rules } from '../rules.ts';
import { leaseUntil, nextGeneration } from '../tick/advance-run.ts';
import { runLog } from '../ports/log.ts';
import { addSeconds } from '../time.ts';

export type FailDeps = Pick<CoreDeps, 'log' | 'now'> & {
  runs: Pick<RunStore, 'get' | 'commit'>;
  executions: Pick<Executions, 'start' | 'stop'>;
  limits: Pick<Limits, 'retentionSeconds'>;
};

/** Reason of the failure of an execution, for operators, and the remediation for the caller of a job. */
export type RunFailure = { cause: string; remediation: string };

/**
 * Handles a run that its execution left: a job fails, a watch continues with its next generation. `mustFail` is checked
 * on each state that is changed.
 */
export async function failRun(
  run: Run,
  { cause, remediation }: RunFailure,
  deps: FailDeps,
  mustFail: (run: Run) => boolean,
): Promise<void> {
  if (run.policy !== 'watch') await failJob(run.run_id, remediation, deps, mustFail);
  else if (mustFail(run)) await startAfterFailure(run, cause, deps);
}

/** Starts the next generation of a watch, after a wait that grows with the failures in a row. */
async function startAfterFailure(watch: WatchRun, cause: string, deps: FailDeps): Promise<void> {
  const waits = rules.watchBackoffSeconds;
  const failures = watch.state.failed_executions + 1;
  const wakeAt = addSeconds(deps.now(), waits[Math.min(failures, waits.length) - 1] ?? 1);
  const next = watch.next && {
    ...watch.next,
    done: false,
    confirming: false,
    wait_until: new Date(Math.ceil(wakeAt.getTime() / 1000) * 1000).toISOString(),
  };
  const result = await deps.runs.commit({
    runId: watch.run_id,
    expectedVersion: watch.version,
    set: {
      ...nextGeneration(watch, watch.handed_over),
      next,
      lease_until: leaseUntil(wakeAt),
      state: { ...watch.state, failed_executions: failures },
    },
    events: [],
  });
  if (result !== 'committed') return;
  const generation = watch.generation + 1;
  runLog(deps.log, toLogKey(watch)).error('Watch restarted after a failure', {
    cause,
    generation,
  });
  await deps.executions.start({ run_id: watch.run_id, generation });
}
