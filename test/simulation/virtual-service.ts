import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { openDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { PreconditionFailedError, TransientError } from '../../core/errors.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import {
  acknowledgeOwnAlert,
  deleteStoredWatch,
  pauseStoredWatch,
  resumeStoredWatch,
  snoozeStoredWatch,
} from '../../core/watch/control-watch.ts';
import { createWatch } from '../../core/watch/create-watch.ts';
import { editWatch } from '../../core/watch/edit-watch.ts';
import { randomChange, randomConfig } from './random-config.ts';
import { Random } from './random.ts';
import { requireBounds, requireEmpty } from './bounds.ts';
import { Camera } from './camera.ts';
import { fullDiskError, withFaults } from './fragile-database.ts';
import { Observer } from './observer.ts';
import type { ActionContext, Context } from './observer.ts';
import { OutsideWorld, requireAlive } from './outside.ts';
import { startProcess } from './service-process.ts';
import type { ServiceProcess } from './service-process.ts';
import { VirtualTime } from './virtual-time.ts';
import { withoutFlushes } from './without-flushes.ts';
import type { TimerOwner } from './virtual-time.ts';
import { createReceivers, createWatchRequest, retentionDays, toConditions } from './watch-request.ts';
import { openTemporaryFolder } from '../../cli/temporary-folder.ts';

const caller = 'harbour';
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export type SimulationSummary = {
  ticks: number;
  openings: number;
  closings: number;
  calls: number;
  changes: number;
  deliveries: number;
  kills: number;
  failedWrites: number;
  watchedShare: number;
  rows: number;
};

export type SimulationOptions = {
  seed: number;
  startMs: number;
  days: number;
  intervalSeconds: number;
  /** Factor of the number of faults and requests per day, default 1. */
  faultRate?: number;
};

/** Process with its database. */
type Running = ServiceProcess & { real: DatabaseSync };

/** Whole service of one machine in virtual time, with faults at random moments, held against the oracle. */
export class VirtualService {
  private readonly options: SimulationOptions;
  private readonly random: Random;
  private readonly time: VirtualTime;
  private readonly folder = openTemporaryFolder('watchpost-simulation-');
  private readonly world: TimerOwner = { isDead: false };
  private readonly contexts = new AsyncLocalStorage<Context>();
  private running: Running | undefined;
  /** Writes until the next kill, and whether it comes before or after that write. */
  private kill: { writes: number; after: boolean } | undefined;
  /** True after a write to the table of watches, until its transaction ends. */
  private writesWatches = false;
  private calm = false;
  private kills = 0;
  private failedWrites = 0;
  private readonly outside: OutsideWorld;

  constructor(options: SimulationOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.time = new VirtualTime(options.startMs);
    this.outside = new OutsideWorld(this.random, this.time, this.contexts);
  }

  /** Runs to the end. Throws at the first difference. */
  async run(): Promise<SimulationSummary> {
    const { startMs, days, seed } = this.options;
    const endMs = startMs + days * day;
    try {
      this.start();
      for (let index = 0; index <= seed % 2; index += 1) await this.createWatch(index);
      this.planFaults();
      await this.pass(endMs);
      return await this.finish(endMs);
    } catch (error) {
      throw new Error(`Seed ${seed} at ${this.time.now().toISOString()}: ${describe(error)}`, {
        cause: error,
      });
    } finally {
      this.world.isDead = true;
      if (this.running) this.stop(this.running);
      this.folder[Symbol.dispose]();
    }
  }

  /** Lets deliveries end, compares what is left with what was committed, and deletes the watches. */
  private async finish(endMs: number): Promise<SimulationSummary> {
    this.calm = true;
    this.kill = undefined;
    this.outside.diskFullShare = 0;
    for (const { camera, observer } of this.outside.watched) {
      camera.calm = true;
      for (const receiver of observer.receivers) receiver.calm = true;
    }
    // Not on a whole hour, at which schedules begin and end: an event of that moment would still be on its way.
    await this.pass(endMs + 4 * hour + 30_000);
    const { real } = await this.requireRunning();
    const coverage = this.outside.watched.map(({ observer }) => observer.requireCoverage(real));
    for (const { observer } of this.outside.watched) {
      observer.requireOnTime(this.time.nowMs);
      for (const receiver of observer.receivers) receiver.requireAll();
    }
    const rows = requireBounds(real, this.time.nowMs, retentionDays);
    const captures = [...this.outside.media.keys()].filter((key) => key.startsWith('captures/'));
    if (captures.length > 60 * coverage.length) throw new Error(`${captures.length} captures are stored`);
    for (const { observer } of this.outside.watched)
      await this.act(observer, { kind: 'delete' }, ({ deps }) =>
        deleteStoredWatch(observer.watchId, caller, deps),
      );
    await this.pass(endMs + 4 * hour + day + 10 * minute);
    for (const { observer } of this.outside.watched) {
      for (const receiver of observer.receivers) receiver.requireAll();
      if (observer.openAlerts.size > 0) throw new Error('An alert is open for good');
    }
    requireEmpty((await this.requireRunning()).real);
    const sum = (read: (observer: Observer) => number) =>
      this.outside.watched.reduce((total, { observer }) => total + read(observer), 0);
    const watchedMs = coverage.reduce((total, { watched }) => total + watched, 0);
    const gapMs = coverage.reduce((total, { gap }) => total + gap, 0);
    return {
      ticks: sum(({ summary }) => summary.ticks),
      openings: sum(({ summary }) => summary.openings),
      closings: sum(({ summary }) => summary.closings),
      calls: sum(({ summary }) => summary.calls),
      changes: sum(({ summary }) => summary.changes),
      deliveries: sum(({ receivers }) => receivers.reduce((total, { accepted }) => total + accepted.size, 0)),
      kills: this.kills,
      failedWrites: this.failedWrites,
      watchedShare: watchedMs / (watchedMs + gapMs),
      rows,
    };
  }

  private async pass(endMs: number): Promise<void> {
    await this.time.runUntil(endMs, () => {
      if (this.outside.failure !== undefined) throw this.outside.failure;
      this.restartIfDead();
    });
  }

  private async requireRunning(): Promise<Running> {
    if (!this.running) await this.pass(this.time.nowMs + 3 * hour);
    if (!this.running) throw new Error('The service does not start');
    return this.running;
  }

  private start(): void {
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
      this.outside.of(owner),
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
    this.writesWatches ||= /\bruns\b/.test(sql);
    const now = this.time.nowMs;
    if (!database.isTransaction && this.writesWatches) {
      this.writesWatches = false;
      try {
        const { commits, disturbances } = this.outside;
        for (const { observer } of this.outside.watched)
          observer.observe(database, commits, now, disturbances);
      } catch (error) {
        this.outside.failure ??= error;
      }
    }
    if (!this.kill || this.kill.writes > 0) return;
    this.die(owner);
    throw new Error('Killed after a write');
  }

  private async createWatch(index: number): Promise<void> {
    const base = randomConfig(this.random, this.time.nowMs, this.options.intervalSeconds);
    const streamUrl = `https://camera-${index}.test/live.m3u8`;
    const camera = new Camera(this.random, this.time.nowMs);
    const receivers = createReceivers(index, this.random);
    const request = createWatchRequest(base, streamUrl, receivers);
    const { deps, real } = await this.requireRunning();
    const watch = await createWatch(request, caller, deps);
    const plain = { ...base, createdAt: Date.parse(watch.created_at) };
    const observer = new Observer(watch.run_id, plain, receivers);
    this.outside.watched.push({ observer, camera, streamUrl });
    observer.observe(real, this.outside.commits, this.time.nowMs, 0);
    this.planActions(observer);
  }

  private planFaults(): void {
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

  private planActions(observer: Observer): void {
    this.repeat(
      () => this.random.integer(minute, 8 * hour),
      () => this.actAtRandom(observer),
    );
  }

  private actAtRandom(observer: Observer): void {
    const { watchId } = observer;
    switch (this.random.integer(0, 4)) {
      case 0:
        void this.act(observer, { kind: 'pause' }, ({ deps }) => pauseStoredWatch(watchId, caller, deps));
        this.resumeLater(observer, this.random.pick([100, 5000, 10 * minute, 3 * hour]));
        break;
      case 1:
        this.change(observer);
        break;
      case 2: {
        const { conditions } = observer.plain;
        const id = this.random.pick([undefined, this.random.pick(conditions).id]);
        const seconds = this.random.integer(1, 7200);
        const request = { watchId, seconds, conditionId: id };
        void this.act(observer, { kind: 'snooze', id, seconds }, ({ deps }) =>
          snoozeStoredWatch(request, caller, deps),
        );
        break;
      }
      default: {
        const [alertId] = observer.openAlerts.keys();
        if (alertId === undefined) return this.change(observer);
        void this.act(observer, { kind: 'acknowledge', alertId }, ({ deps }) =>
          acknowledgeOwnAlert(alertId, caller, caller, deps),
        );
      }
    }
  }

  private resumeLater(observer: Observer, delayMs: number): void {
    this.after(delayMs, () => {
      if (observer.isDeleted) return;
      const { watchId } = observer;
      void this.act(observer, { kind: 'resume' }, ({ deps }) => resumeStoredWatch(watchId, caller, deps));
      this.after(minute, () => {
        if (observer.oracle.paused) this.resumeLater(observer, 0);
      });
    });
  }

  /** Changes conditions: sometimes twice at the same time, or based on an old version. */
  private change(observer: Observer): void {
    const ifMatch = observer.configVersion;
    const isOld = ifMatch > 1 && this.random.chance(0.1);
    const times = this.random.pick([1, 1, 2]);
    for (let count = 0; count < times; count += 1) {
      const { conditions } = randomChange(this.random, observer.plain);
      const edit = {
        watchId: observer.watchId,
        patch: { conditions: toConditions(conditions) },
        ifMatch: isOld ? ifMatch - 1 : ifMatch,
      };
      const context = { kind: 'change' as const, conditions };
      void this.act(observer, context, async ({ deps }) => {
        const stored = await editWatch(edit, caller, deps, (merged) => watchRequestSchema.parse(merged));
        if (isOld) this.outside.failure ??= new Error('A change of an old version was accepted');
        return stored;
      });
    }
  }

  private async act(
    observer: Observer,
    context: ActionContext,
    run: (process: ServiceProcess) => Promise<unknown>,
  ): Promise<void> {
    const { running } = this;
    if (!running || running.owner.isDead) return;
    const isPaused = observer.oracle.paused;
    try {
      await this.contexts.run(context, () => run(running));
    } catch (error) {
      const isExpected = error instanceof TransientError || error instanceof PreconditionFailedError;
      if (!isExpected && !running.owner.isDead && !isPaused) this.outside.failure ??= error;
    }
  }

  private repeat(nextMs: () => number, run: () => void): void {
    this.after(nextMs() / (this.options.faultRate ?? 1), () => {
      if (this.calm) return;
      run();
      this.repeat(nextMs, run);
    });
  }

  private after(delayMs: number, run: () => void): void {
    this.time.createTimers(this.world)(run, delayMs);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
