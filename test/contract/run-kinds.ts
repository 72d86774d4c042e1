import type { JobStore, RunChange, RunStore, WatchStore } from '../../core/ports/runs.ts';
import { asJob, asWatch, type PolicyName, type Run } from '../../core/records/run.ts';
import type { RunProgress } from '../../core/records/run-base.ts';
import { newWatchConfig } from '../support/watches/watch-records.ts';
import * as job from './records.ts';
import * as watch from './watch-records.ts';

/** Fields that changes of all policies set. */
type Patch = Partial<
  Pick<RunProgress, 'last_tick' | 'next' | 'generation' | 'seen' | 'handed_over' | 'lease_until'>
>;

export type Stores = { runs: RunStore; jobs: JobStore; watches: WatchStore };

/** Runs of one policy, as the contract of a store of runs makes and changes them. */
export type Kind = {
  policy: PolicyName;
  /** Stores an active run whose log has one event that destinations receive. */
  add(stores: Stores, fields: { hasReceivers?: boolean; leaseUntil?: Date }): Promise<Run>;
  /** Creates a change with events that nobody receives (`progress`), or that destinations receive (`told`). */
  append(run: Run, events: ('progress' | 'told')[], set?: Patch): RunChange;
  /** Creates the change that ends the run, with one event and every other effect. */
  end(run: Run): RunChange;
  /** Reads what changes of the policy affect beside the run and its log. */
  effects(stores: Stores, run: Run): Promise<object>;
  effectsOfEnd: object;
};

const jobKind: Kind = {
  policy: 'monitor',
  add: async ({ jobs, runs }, { hasReceivers = false, leaseUntil = job.after(60) }) => {
    const webhook = hasReceivers ? 'https://receiver.example/hook' : null;
    const created = job.newJob({ webhook_url: webhook, lease_until: leaseUntil.toISOString() });
    await jobs.create(job.createCreation(created), job.start);
    await runs.commit(job.begin(created));
    return job.changed(created, job.begin(created));
  },
  append: (run, events, set = {}) => {
    const added = events.map((each) => (each === 'told' ? job.triggered : job.progress));
    return job.createChange(asJob(run)!, added, { set });
  },
  end: (run) => job.end(asJob(run)!),
  effects: async ({ jobs }, { caller }) => {
    const { jobs_created: created, jobs_stopped: stopped, checks_performed: checks } = await jobs.usage();
    return { active: await jobs.countActive(caller), created, stopped, checks };
  },
  effectsOfEnd: { active: 0, created: 1, stopped: 1, checks: 3 },
};

const watchKind: Kind = {
  policy: 'watch',
  add: async ({ watches, runs }, { hasReceivers = false, leaseUntil = job.after(60) }) => {
    const config = newWatchConfig(hasReceivers ? {} : { destinations: [] });
    const creation = { ...watch.newCreation({ config }), lease_until: leaseUntil.toISOString() };
    await watches.create(creation, job.start);
    return (await runs.get(creation.run_id, job.start))!;
  },
  append: (run, events, set = {}) => {
    const stored = asWatch(run)!;
    const told = watch.opened(watch.newAlert(stored));
    const added = events.map((each) => (each === 'told' ? told : watch.progress));
    const sequence = run.sequence + events.length;
    return watch.newChange(stored, {
      set: { ...set, sequence },
      events: watch.logged(stored, added, run.sequence),
    });
  },
  end: (run) => {
    const stored = asWatch(run)!;
    const alert = watch.newAlert(stored);
    return watch.newChange(stored, {
      set: { sequence: run.sequence + 1, deleted_at: job.after(5).toISOString() },
      events: watch.logged(stored, [watch.opened(alert)], run.sequence),
      alerts: [{ kind: 'open', alert }],
      hours: [{ hour: job.start.toISOString(), counts: { ticks: 1 } }],
    });
  },
  effects: async ({ watches }, { run_id: id, caller }) => ({
    listed: (await watches.list(caller)).length,
    alerts: (await watches.alerts({ caller, limit: 10 }, job.start)).length,
    ticks: (await watches.hours(id, job.start, job.after(3600))).map(({ counts }) => counts.ticks),
  }),
  effectsOfEnd: { listed: 0, alerts: 1, ticks: [1] },
};

/** Jobs of both policies are stored by the same code. */
export const kinds: readonly Kind[] = [jobKind, watchKind];
