import { TransientError } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports/observability.ts';
import type {
  AnalyzeInput,
  CaptureInput,
  CaptureOutput,
  ExecutionInput,
  WorkflowState,
} from '../../../core/records/workflow.ts';
import { later } from '../../../core/time.ts';
import { findRetryRule, maxRetryDelay, taskLimits } from '../../../core/workflow/task-limits.ts';
import type { RetryRule, TaskName } from '../../../core/workflow/task-limits.ts';
import type { MotionReferences } from './motion-references.ts';
import type { Clock } from './clock.ts';

/** Tasks of a tick, those of `core/workflow/tasks.ts`. A repeated task has no further effect. */
export type RunTasks = {
  analyze(input: AnalyzeInput, signal: AbortSignal): Promise<WorkflowState | ClosedRun>;
  capture(input: CaptureInput, signal: AbortSignal): Promise<CaptureOutput>;
  /**
   * Returns true at the first motion after a capture; false if the stream cannot be followed. Absent: runs wait for
   * their planned time.
   */
  awaitMotion?(input: CaptureInput, signal: AbortSignal): Promise<boolean>;
};
type ClosedRun = { run_id: string; done: true };
type Task<Result> = (signal: AbortSignal) => Promise<Result>;

export type TickLoopDeps = {
  tasks: RunTasks;
  motionReferences: MotionReferences;
  clock: Clock;
  /** Random number from 0 to below 1. */
  random: () => number;
  log: (runId: string) => Log;
};

/** Step that a run waits for: its next tick, a repetition, or a task. */
type Activity = 'next tick' | 'repetition' | TaskName;

/** Waits for a disk that takes no write: 1, 2, 4 … 30 s. */
const maxRoomPauseSeconds = 30;
/** Minimum time from a tick to one that motion causes, in seconds. */
const minWakeSeconds = 2;

/** Thrown by a step that the run does not wait for any more. */
class InterruptedError extends Error {}

/**
 * Runs the ticks of a job or watch: waits, captures and analyzes until Analyze says that it is done. Everything that
 * must survive the process is in the record that Analyze commits.
 */
export class TickLoop {
  private readonly runId: string;
  private generation: number;
  private readonly deps: TickLoopDeps;
  private readonly onTask: (settled: Promise<unknown>) => void;
  /** True if the record is to be read before the next tick. */
  private mustBegin = true;
  private isEnded = false;
  private activity: Activity = 'begin';
  /** Ends the step that the run waits for. */
  private interrupt: (() => void) | undefined;
  /** Ends the wait that is under way at an earlier time. */
  private bringForward: ((time: Date) => void) | undefined;

  constructor(
    { run_id: runId, generation }: ExecutionInput,
    deps: TickLoopDeps,
    onTask: (settled: Promise<unknown>) => void,
  ) {
    this.runId = runId;
    this.generation = generation;
    this.deps = deps;
    this.onTask = onTask;
  }

  /** Runs to the end, and then calls `onEnd`. Never rejects. */
  async follow(onEnd: () => void): Promise<void> {
    while (this.mustBegin && !this.isEnded) {
      this.mustBegin = false;
      const execution = { run_id: this.runId, generation: this.generation };
      await this.runTicks(execution).catch((error: unknown) => this.close(execution, error));
    }
    onEnd();
  }

  /**
   * Returns false for a generation that has begun. Otherwise the run reads its record again, without the wait or the
   * capture under way.
   */
  begin(generation: number): boolean {
    if (generation <= this.generation) return false;
    this.generation = generation;
    this.mustBegin = true;
    // A verdict is not dropped: Analyze commits it, or finds that the record has changed.
    if (['next tick', 'repetition', 'capture'].includes(this.activity)) this.interrupt?.();
    return true;
  }

  /** Ends the wait for the next tick: the record is read again, and tells when it is due. */
  wake(): void {
    if (this.activity !== 'next tick') return;
    this.mustBegin = true;
    this.interrupt?.();
  }

  /** Takes no further step, and aborts the task under way. Its late result is dropped. */
  end(): void {
    this.isEnded = true;
    this.interrupt?.();
  }

  private async runTicks(execution: ExecutionInput): Promise<void> {
    const { tasks, motionReferences } = this.deps;
    let step = await this.attempt('begin', async (signal) => {
      const begun = await tasks.analyze({ operation: 'begin', ...execution }, signal);
      return begun.done ? begun : { ...begun, capture: motionReferences.complete(begun) };
    });
    while (!step.done && !this.mustBegin) {
      const { capture, wait_until: plannedAt } = step;
      const isWoken = await this.waitForTick(step);
      const woken = isWoken && { woken_at: this.deps.clock.now().toISOString() };
      const output = await this.attempt('capture', (signal) => tasks.capture(capture, signal));
      const captured = { ...output, ...woken };
      const input = { operation: 'analyze', ...execution, capture, captured, planned_at: plannedAt } as const;
      step = await this.attempt('analyze', (signal) => tasks.analyze(input, signal));
      if (!step.done) this.save(step);
    }
  }

  /** Waits for the planned time, or for motion before it. Returns true after motion. */
  private async waitForTick({ capture, wait_until: plannedAt }: WorkflowState): Promise<boolean> {
    const wakeAt = this.inSeconds(minWakeSeconds);
    const { awaitMotion } = this.deps.tasks;
    const planned = new Date(plannedAt);
    if (!awaitMotion || !capture.wakes || wakeAt >= planned) {
      await this.waitUntil(planned, 'next tick');
      return false;
    }
    const following = new AbortController();
    let isWoken = false;
    const wakeOnMotion = async (): Promise<void> => {
      try {
        isWoken = (await awaitMotion(capture, following.signal)) && !following.signal.aborted;
        if (isWoken) this.bringForward?.(later(wakeAt, this.deps.clock.now()));
      } catch (error) {
        if (!following.signal.aborted) this.log.debug('Stream not followed', { error: String(error) });
      }
    };
    this.onTask(wakeOnMotion());
    try {
      await this.waitUntil(planned, 'next tick');
    } finally {
      following.abort();
    }
    return isWoken;
  }

  private save(step: WorkflowState): void {
    const saved = this.deps.motionReferences.save(step).catch((error: unknown) => {
      this.log.warning('Motion reference not stored', { error: String(error) });
    });
    this.onTask(saved);
  }

  /** Fails a job, or starts the next generation of a watch, after an error that no repetition helps against. */
  private async close(execution: ExecutionInput, error: unknown): Promise<void> {
    if (error instanceof InterruptedError) return;
    const failure = {
      Error: errorName(error),
      Cause: error instanceof Error ? error.message : String(error),
    };
    const input = { operation: 'close', ...execution, failure } as const;
    try {
      await this.attempt('close', (signal) => this.deps.tasks.analyze(input, signal));
    } catch (cause) {
      if (cause instanceof InterruptedError) return;
      this.log.error('Run not closed after a failure; reconcile starts it again', { error: String(cause) });
    }
  }

  private async attempt<Result>(name: TaskName, task: Task<Result>): Promise<Result> {
    const used = new Map<RetryRule, number>();
    for (;;) {
      try {
        return await this.attemptOnce(name, task);
      } catch (error) {
        const rule = findRetryRule(taskLimits[name], errorName(error));
        const repetitions = rule ? (used.get(rule) ?? 0) : 0;
        if (error instanceof InterruptedError || !rule || repetitions >= rule.maxAttempts) throw error;
        if (used.size === 0)
          this.log.warning('Task failed, repeating it', { task: name, error: String(error) });
        used.set(rule, repetitions + 1);
        if (error instanceof TransientError) await this.waitForRoom();
        const delay = maxRetryDelay(rule, repetitions) * (rule.jitter ? this.deps.random() : 1);
        await this.waitUntil(this.inSeconds(delay), 'repetition');
      }
    }
  }

  /** A repetition on a full disk would only call the model again. */
  private async waitForRoom(): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        this.deps.motionReferences.requireRoom();
        return;
      } catch {
        await this.waitUntil(this.inSeconds(Math.min(2 ** failures, maxRoomPauseSeconds)), 'repetition');
      }
    }
  }

  /** Rejects at the time limit, even if the task ignores its signal. */
  private attemptOnce<Result>(name: TaskName, task: Task<Result>): Promise<Result> {
    if (this.isEnded) return Promise.reject(new InterruptedError());
    const controller = new AbortController();
    const { timeoutSeconds } = taskLimits[name];
    return new Promise((resolve, reject) => {
      const giveUp = (reason: Error) => {
        cancelTimer();
        reject(reason);
        controller.abort(reason);
      };
      const cancelTimer = this.deps.clock.setTimer(this.inSeconds(timeoutSeconds), () =>
        giveUp(new TaskTimeoutError(timeoutSeconds)),
      );
      this.activity = name;
      this.interrupt = () => giveUp(new InterruptedError('The run was stopped'));
      this.onTask(task(controller.signal).then(resolve, reject).finally(cancelTimer));
    });
  }

  private waitUntil(time: Date, until: 'next tick' | 'repetition'): Promise<void> {
    if (this.isEnded || this.mustBegin) return Promise.reject(new InterruptedError());
    return new Promise((resolve, reject) => {
      let cancelTimer = this.deps.clock.setTimer(time, resolve);
      this.activity = until;
      this.interrupt = () => {
        cancelTimer();
        reject(new InterruptedError());
      };
      this.bringForward = (sooner) => {
        if (sooner >= time) return;
        cancelTimer();
        cancelTimer = this.deps.clock.setTimer(sooner, resolve);
      };
    });
  }

  private inSeconds(seconds: number): Date {
    return new Date(this.deps.clock.now().getTime() + seconds * 1000);
  }

  private get log(): Log {
    return this.deps.log(this.runId);
  }
}

/** An attempt that took longer than its time limit; the name is that of Step Functions. */
class TaskTimeoutError extends Error {
  override readonly name = 'States.Timeout';

  constructor(seconds: number) {
    super(`The task took longer than ${seconds} s`);
  }
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'Error';
}
