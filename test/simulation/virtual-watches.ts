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
import { requireBounds, requireEmpty } from './bounds.ts';
import { Camera } from './camera.ts';
import { WatchObserver, type ActionContext } from './observer.ts';
import type { ServiceProcess } from './service-process.ts';
import { VirtualService, type ServiceOptions } from './virtual-service.ts';
import { createReceivers, createWatchRequest, retentionDays, toConditions } from './watch-request.ts';

const caller = 'harbour';
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export type SimulationSummary = {
  ticks: number;
  openings: number;
  deliveries: number;
  kills: number;
  failedWrites: number;
  watchedShare: number;
  rows: number;
};

export type SimulationOptions = ServiceOptions & { days: number; intervalSeconds: number };

/** Watches of a virtual service, which callers change at random moments, held against the oracle. */
export class VirtualWatches {
  private readonly options: SimulationOptions;
  private readonly service: VirtualService;
  private readonly observers: WatchObserver[] = [];

  constructor(options: SimulationOptions) {
    this.options = options;
    this.service = new VirtualService(options);
  }

  /** Runs to the end. Throws at the first difference. */
  async run(): Promise<SimulationSummary> {
    const { startMs, days, seed } = this.options;
    const endMs = startMs + days * day;
    return this.service.run(async () => {
      // The grid of the checks meets no boundary of a schedule.
      await this.service.pass(startMs + this.service.random.integer(1, 10_000));
      for (let index = 0; index <= seed % 2; index += 1) await this.createWatch(index);
      this.service.planFaults();
      await this.service.pass(endMs);
      return this.finish(endMs);
    });
  }

  /** Lets deliveries end, compares what is left with what was committed, and deletes the watches. */
  private async finish(endMs: number): Promise<SimulationSummary> {
    const { service, observers } = this;
    service.calmDown();
    // Not on a whole hour, at which schedules begin and end: an event of that moment would still be on its way.
    await service.pass(endMs + 4 * hour + 30_000);
    const { real } = await service.requireRunning();
    const coverage = observers.map((observer) => observer.requireCoverage(real));
    for (const observer of observers) {
      observer.requireOnTime(service.time.nowMs);
      for (const receiver of observer.receivers) receiver.requireAll();
    }
    const rows = requireBounds(real, service.time.nowMs, retentionDays);
    const captures = [...service.outside.media.keys()].filter((key) => key.startsWith('captures/'));
    if (captures.length > 60 * coverage.length) throw new Error(`${captures.length} captures are stored`);
    for (const observer of observers)
      await this.act(observer, { kind: 'delete' }, ({ deps }) =>
        deleteStoredWatch(observer.runId, caller, deps),
      );
    await service.pass(endMs + 4 * hour + day + 10 * minute);
    for (const observer of observers) {
      for (const receiver of observer.receivers) receiver.requireAll();
      if (observer.openAlerts.size > 0) throw new Error('An alert is open for good');
    }
    requireEmpty((await service.requireRunning()).real);
    const sum = (read: (observer: WatchObserver) => number) =>
      observers.reduce((total, observer) => total + read(observer), 0);
    const watchedMs = coverage.reduce((total, { watched }) => total + watched, 0);
    const gapMs = coverage.reduce((total, { gap }) => total + gap, 0);
    return {
      ticks: sum(({ summary }) => summary.ticks),
      openings: sum(({ summary }) => summary.openings),
      deliveries: sum(({ receivers }) => receivers.reduce((total, { accepted }) => total + accepted.size, 0)),
      kills: service.kills,
      failedWrites: service.failedWrites,
      watchedShare: watchedMs / (watchedMs + gapMs),
      rows,
    };
  }

  private async createWatch(index: number): Promise<void> {
    const { random, time, outside } = this.service;
    const base = randomConfig(random, time.nowMs, this.options.intervalSeconds);
    const streamUrl = `https://camera-${index}.test/live.m3u8`;
    const camera = new Camera(random, time.nowMs);
    const receivers = createReceivers(index, random);
    const request = createWatchRequest(base, streamUrl, receivers);
    const { deps, real } = await this.service.requireRunning();
    const watch = await createWatch(request, caller, deps);
    const plain = { ...base, createdAt: Date.parse(watch.created_at), phase: watch.stream_phase };
    const observer = new WatchObserver(watch.run_id, plain, receivers);
    this.observers.push(observer);
    outside.watched.push({ observer, camera, streamUrl });
    observer.observe(real, outside.commits, time.nowMs, 0);
    this.planActions(observer);
  }

  private planActions(observer: WatchObserver): void {
    this.service.repeat(
      () => this.service.random.integer(minute, 8 * hour),
      () => this.actAtRandom(observer),
    );
  }

  private actAtRandom(observer: WatchObserver): void {
    const { runId: watchId } = observer;
    switch (this.service.random.integer(0, 4)) {
      case 0:
        void this.act(observer, { kind: 'pause' }, ({ deps }) => pauseStoredWatch(watchId, caller, deps));
        this.resumeLater(observer, this.service.random.pick([100, 5000, 10 * minute, 3 * hour]));
        break;
      case 1:
        this.change(observer);
        break;
      case 2: {
        const { conditions } = observer.plain;
        const id = this.service.random.pick([undefined, this.service.random.pick(conditions).id]);
        const seconds = this.service.random.integer(1, 7200);
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

  private resumeLater(observer: WatchObserver, delayMs: number): void {
    this.service.after(delayMs, () => {
      if (observer.isDeleted) return;
      const { runId: watchId } = observer;
      void this.act(observer, { kind: 'resume' }, ({ deps }) => resumeStoredWatch(watchId, caller, deps));
      this.service.after(minute, () => {
        if (observer.oracle.paused) this.resumeLater(observer, 0);
      });
    });
  }

  /** Changes conditions: sometimes twice at the same time, or based on an old version. */
  private change(observer: WatchObserver): void {
    const ifMatch = observer.configVersion;
    const isOld = ifMatch > 1 && this.service.random.chance(0.1);
    const times = this.service.random.pick([1, 1, 2]);
    for (let count = 0; count < times; count += 1) {
      const { conditions } = randomChange(this.service.random, observer.plain);
      const edit = {
        watchId: observer.runId,
        patch: { conditions: toConditions(conditions) },
        ifMatch: isOld ? ifMatch - 1 : ifMatch,
      };
      const context = { kind: 'change' as const, conditions };
      void this.act(observer, context, async ({ deps }) => {
        const stored = await editWatch(edit, caller, deps, (merged) => watchRequestSchema.parse(merged));
        if (isOld) this.service.outside.fail(new Error('A change of an old version was accepted'));
        return stored;
      });
    }
  }

  private act(
    { oracle }: WatchObserver,
    context: ActionContext,
    run: (process: ServiceProcess) => Promise<unknown>,
  ): Promise<void> {
    return this.service.act(context, run, oracle.paused);
  }
}
