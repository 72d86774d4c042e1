import type { CoreDeps } from '../dependencies.ts';
import { jobLog } from '../ports/log.ts';
import type { Run } from '../records/run.ts';
import type { TickInput, WorkflowState } from '../records/workflow.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import { captureStateAfter } from '../tick/advance-run.ts';
import { planBurst } from './burst.ts';
import type { RunKind } from './run-kind.ts';

type Deps = Pick<CoreDeps, 'executions' | 'media' | 'pace' | 'log' | 'now'>;

/**
 * Second half of a tick, the same for every policy: calls the model if the capture needs it, decides, and commits the tick with all that follows from it in one
 * transaction. After a conflict it decides again with the same observation. A repetition is safe: a committed tick returns the stored result.
 */
export async function analyze<Stored extends Run, Outcome, Change>(
  input: TickInput,
  kind: RunKind<Stored, Outcome, Change>,
  deps: Deps,
  signal?: AbortSignal,
): Promise<WorkflowState> {
  let outcome: Outcome | undefined;
  let stretch: number | undefined;
  const evidence: string[] = [];
  return retryConflicts('The run changed too often while its tick was to be committed', async () => {
    const found = await kind.find(input.job_id);
    if (!found) await discard(evidence, input, deps);
    if (!found || isAbandoned(found, input))
      return committed(stepAfter(found, kind, input, deps.now(), true));
    const { generation, last_tick: lastTick } = found;
    const isDone = kind.isOver(found) || generation > input.generation || lastTick >= input.capture.tick;
    if (isDone && !(outcome !== undefined && kind.countsLate(outcome))) return finish(found);
    const read = { stored: found, at: deps.now() };
    if (outcome === undefined) {
      const observed = await kind.observe(read, input, signal);
      if ('kind' in observed) return conflict;
      outcome = observed.outcome;
      if (observed.again) return conflict;
    }
    const complete = await kind.complete(read, outcome, signal);
    stretch ??= deps.pace.stretch(input.job_id, kind.intervalSeconds(found));
    const change = await kind.plan(read, complete, { input, stretch });
    evidence.push(...(await kind.storeEvidence(found, complete, change, input)));
    if ((await kind.commit(change)) !== 'committed') return conflict;
    const after = kind.after(found, change);
    await remove(kind.unreferenced(found, after, input.captured), input, deps);
    await kind.report(after, complete);
    return finish(after);
  });

  async function finish(stored: Stored) {
    if (!kind.isOver(stored)) await startNextGeneration(stored, input, deps);
    return committed(stepAfter(stored, kind, input, deps.now()));
  }
}

/** Starts the execution of the current generation if the run was handed over from `generation`. Has no effect if it was started before. */
export async function startNextGeneration(
  { run_id, generation }: Run,
  before: { generation: number },
  { executions }: Pick<CoreDeps, 'executions'>,
): Promise<void> {
  if (generation > before.generation) await executions.start({ job_id: run_id, generation });
}

/** Returns true if a newer Begin took over the ticks of this generation: this burst was abandoned while it ran. */
function isAbandoned({ burst, generation }: Run, input: TickInput): boolean {
  return input.burst !== undefined && generation === input.generation && burst > input.burst;
}

/** Returns the workflow state after a tick, from the stored run and the capture of the tick. */
function stepAfter<Stored extends Run>(
  run: Stored | undefined,
  kind: Pick<RunKind<Stored, never, never>, 'isOver' | 'wakeAt'>,
  input: TickInput,
  now: Date,
  ended = false,
): WorkflowState {
  const { capture, captured } = input;
  const next = run?.next ?? null;
  const over =
    ended || !run || kind.isOver(run) || run.generation > input.generation || (next?.done ?? false);
  const wakeAt = run ? kind.wakeAt(run, now) : new Date(0);
  return {
    job_id: input.job_id,
    generation: input.generation,
    ...planBurst(input, over, wakeAt, now),
    wait_until: wakeAt.toISOString(),
    capture: {
      ...(capture.kind && { kind: capture.kind }),
      source_id: run?.source_id ?? capture.source_id,
      tick: (run?.last_tick ?? capture.tick) + 1,
      closing: next?.closing ?? true,
      resolve_again: next?.resolve_again ?? false,
      ...captureStateAfter(capture, captured, next?.judged ?? false),
    },
  };
}

/** Removes what a tick has stored for a run that is gone. */
async function discard(evidence: readonly string[], input: TickInput, deps: Deps): Promise<void> {
  const { captured } = input;
  const taken = captured.kind === 'captured' ? [captured.frame_key, captured.clip_key] : [];
  await remove(
    [...evidence, ...taken].filter((key) => key !== null),
    input,
    deps,
  );
}

/** Objects that a fault or a crash leaves behind expire (`media-lifetime.ts`). */
async function remove(keys: readonly string[], { job_id }: TickInput, { media, log }: Deps): Promise<void> {
  if (keys.length === 0) return;
  await media.remove(keys).catch((error: unknown) => {
    jobLog(log, job_id).warning('Media not removed', { count: keys.length, error: String(error) });
  });
}
