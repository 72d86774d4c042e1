import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { PreconditionFailedError, TransientError } from '../../core/errors.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { Random } from './random.ts';
import { fullDiskError, withFaults } from './fragile-database.ts';
import type { ActionContext, Context } from './observer.ts';
import { OutsideWorld, requireAlive } from './outside.ts';
import { startProcess, type ServiceProcess } from './service-process.ts';
import { VirtualTime, type TimerOwner } from './virtual-time.ts';
import { withoutFlushes } from './without-flushes.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

const minute = 60_000;
const hour = 60 * minute;

export type ServiceOptions = {
  seed: number;
  startMs: number;
  /** Factor of the number of faults and requests per day, default 1. */
  faultRate?: number;
  limits?: Partial<CoreDeps['limits']>;
};

/** Process with its database. */
type Running = ServiceProcess & { real: DatabaseSync };

/** Whole service of one machine in virtual time, with its world outside and faults at random moments. */
export class VirtualService {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly outside: OutsideWorld;
  /** True once no fault and no request is begun any more. */
  calm = false;
  kills = 0;
  failedWrites = 0;
  private readonly options: ServiceOptions;
  private readonly folder = openTemporaryFolder('watchpost-simulation-');
  private readonly world: TimerOwner = { isDead: false };
  private readonly contexts = new AsyncLocalStorage<Context>();
  private running: Running | undefined;
  /** Writes until the next kill, and whether it comes before or after that write. */
  private kill: { writes: number; after: boolean } | undefined;
  /** True after a write to the table of runs, until its transaction ends. */
  private writesRuns = false;

  constructor(options: ServiceOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.time = new VirtualTime(options.startMs);
    this.outside = new OutsideWorld(this.random, this.time, this.contexts);
  }

  /** Starts the service, works with it, and stops it. Throws at the first difference. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.start();
      return await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`Seed ${this.options.seed} at ${this.time.now().toISOString()}: ${message}`, {
        cause: error,
      });
    } finally {
      this.close();
    }
  }

  close(): void {
    this.world.isDead = true;
    if (this.running) this.stop(this.running);
    this.folder[Symbol.dispose]();
  }

  /** From now on, nothing fails. */
  calmDown(): void {
    this.calm = true;
    this.kill = undefined;
    this.outside.diskFullShare = 0;
    for (const { camera, observer } of this.outside.watched) {
      camera.calm = true;
      for (const receiver of observer.receivers) receiver.calm = true;
    }
  }

  /** Passes time until the wall clock, which is not disturbed, reads `endMs`. */
  async pass(endMs: number): Promise<void> {
    await this.time.runUntil(endMs, () => {
      if (this.outside.failure !== undefined) throw this.outside.failure;
      this.restartIfDead();
    });
  }

  async requireRunning(): Promise<Running> {
    if (!this.running) await this.pass(this.time.nowMs + 3 * hour);
    if (!this.running) throw new Error('The service does not start');
    return this.running;
  }

  start(): void {
    const owner: TimerOwner = { isDead: false };
    const real = withoutFlushes(openDatabase(join(this.folder.path, 'watchpost.sqlite')));
    const faults = {
      requireAlive: () => requireAlive(owner),
      beforeWrite: () => this.beforeWrite(owner),
      afterWrite: (sql: string) => this.afterWrite(sql, owner, real),
    };
    const onFailedStart = () => this.die(owner);
    const process = startProcess(
      withFaults(real, faults),
      owner,
      this.time,
      { ...this.outside.of(owner), ...(this.options.limits && { limits: this.options.limits }) },
      onFailedStart,
    );
    this.running = { ...process, real };
  }

  private stop({ owner, real }: Running): void {
    owner.isDead = true;
    real.close();
    this.running = undefined;
  }

  private restartIfDead(): void {
    const { running } = this;
    if (!running?.owner.isDead) return;
    this.stop(running);
    const downMs = this.random.chance(0.85)
      ? this.random.integer(1000, 40_000)
      : this.random.integer(minute, 2 * hour);
    this.after(downMs, () => {
      if (!this.calm && this.random.chance(0.3)) this.kill = this.nextKill(6);
      this.start();
    });
  }

  private die(owner: TimerOwner): void {
    if (owner.isDead) return;
    owner.isDead = true;
    this.kills += 1;
    this.outside.disturbances += 1;
    this.kill = undefined;
  }

  private nextKill(maxWrites: number) {
    return { writes: this.random.integer(1, maxWrites), after: this.random.chance(0.5) };
  }

  private beforeWrite(owner: TimerOwner): void {
    if (this.random.chance(this.outside.diskFullShare)) {
      this.failedWrites += 1;
      this.outside.disturbances += 1;
      throw fullDiskError();
    }
    if (!this.kill) return;
    this.kill.writes -= 1;
    if (this.kill.writes > 0 || this.kill.after) return;
    this.die(owner);
    throw new Error('Killed before a write');
  }

  private afterWrite(sql: string, owner: TimerOwner, database: DatabaseSync): void {
    this.writesRuns ||= /\bruns\b/.test(sql);
    const now = this.time.nowMs;
    if (!database.isTransaction && this.writesRuns) {
      this.writesRuns = false;
      try {
        for (const { observer } of this.outside.watched)
          observer.observe(database, this.outside.commits, now, this.outside.disturbances);
      } catch (error) {
        this.outside.failure ??= error;
      }
    }
    if (!this.kill || this.kill.writes > 0) return;
    this.die(owner);
    throw new Error('Killed after a write');
  }

  planFaults(): void {
    this.repeat(
      () => this.random.integer(2 * hour, 30 * hour),
      () => (this.kill = this.nextKill(60)),
    );
    this.repeat(
      () => this.random.integer(12 * hour, 96 * hour),
      () => {
        if (this.running) this.die(this.running.owner);
      },
    );
    this.repeat(
      () => this.random.integer(24 * hour, 144 * hour),
      () => {
        this.outside.diskFullShare = this.random.pick([1, 1, 0.5, 0.1]);
        this.after(this.random.pick([minute, 20 * minute, 3 * hour]), () => (this.outside.diskFullShare = 0));
      },
    );
  }

  /** Runs a request of a caller, if the service runs. It may fail in a fault, and if `mayFail`. */
  async act(
    context: ActionContext,
    run: (process: ServiceProcess) => Promise<unknown>,
    mayFail = false,
  ): Promise<void> {
    const { running } = this;
    if (!running || running.owner.isDead) return;
    try {
      await this.contexts.run(context, () => run(running));
    } catch (error) {
      const isExpected = error instanceof TransientError || error instanceof PreconditionFailedError;
      if (!isExpected && !running.owner.isDead && !mayFail) this.outside.fail(error);
    }
  }

  repeat(nextMs: () => number, run: () => void): void {
    this.after(nextMs() / (this.options.faultRate ?? 1), () => {
      if (this.calm) return;
      run();
      this.repeat(nextMs, run);
    });
  }

  after(delayMs: number, run: () => void): void {
    this.time.createTimers(this.world)(run, delayMs);
  }
}
