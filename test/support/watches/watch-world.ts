import { watchSchema } from '../../../core/records/watch.ts';
import { expect } from 'vitest';
import type { EvidenceClip } from '../../../core/records/clip.ts';
import type { WatchRun } from '../../../core/records/run.ts';
import type { Budget, Destination, Schedule, WatchConfig } from '../../../core/records/watch.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWatchRun } from '../../../core/policies/watch/initial-state.ts';
import type { changeWatch } from '../../../core/policies/watch/change.ts';
import { start } from '../../contract/records.ts';
import { createWorld, type World } from '../world.ts';
import { toWatch } from '../../simulation/watch-request.ts';

export const watchId = '00000000-0000-4000-8000-000000000001';
/** World of the current test. */
export let world: World;

type Options = {
  destinations?: Destination[];
  conditions?: string[];
  budget?: Budget | null;
  remind?: number | null;
  schedule?: Schedule | null;
  toClose?: number;
  interval?: number;
  toOpen?: number;
  openAfter?: number;
  confirm?: number;
  /** Offset of the checks, as real hosts have; null for a grid from the creation on. */
  phase?: number | null;
  /** Days of the memory. */
  memory?: number;
  clip?: EvidenceClip;
};

/** Returns a watch of these options. */
export function newWatch({
  destinations = [],
  conditions = ['person'],
  budget = null,
  remind = null,
  schedule = null,
  toClose = 2,
  interval = 10,
  toOpen = 2,
  openAfter = 0,
  confirm = 2,
  phase = null,
  memory = 0,
  clip,
}: Options = {}) {
  const rules = conditions.map((id) => ({
    id,
    text: `a ${id} is visible`,
    toOpen,
    openAfter,
    considered: 3,
    toClose,
    closeAfter: 0,
    cooldown: 0,
    remind,
  }));
  const plain = toWatch({
    createdAt: start.getTime(),
    interval,
    confirm,
    prefilter: true,
    zone: 'UTC',
    schedule: null,
    callsPerDay: null,
    conditions: rules,
  });
  return {
    ...plain,
    stream_phase: phase,
    config: {
      ...plain.config,
      budget,
      destinations,
      schedule,
      memory_days: memory,
      evidence_clip: clip ?? null,
    },
  };
}

/** Creates a watch in a new world, and begins its execution. */
export async function createWatch(options: Options = {}) {
  world = createWorld();
  const watch = newWatch(options);
  await world.c.watches.create(
    {
      ...createWatchRun(watch, start),
      lease_until: start.toISOString(),
      source: {
        source_id: watch.source_id,
        caller: watch.caller,
        url: watch.stream_url,
        input_mode: 'frames',
        clip_duration_seconds: 3,
        look_back: true,
        memory_days: watch.config.memory_days,
      },
      secrets: { watch_id: watchId, destinations: [] },
      events: [],
      maxWatches: 25,
    },
    start,
  );
  return world.begin({ run_id: watchId, generation: 0 });
}

/** Runs ticks, and returns the step after them. */
export async function run(step: WorkflowState, ticks: number): Promise<WorkflowState> {
  let current = step;
  for (let tick = 0; tick < ticks; tick += 1) current = await world.tick(current);
  return current;
}

export async function stored(): Promise<WatchRun> {
  const found = await world.c.watches.get(watchId, world.clock.now);
  if (!found) throw new Error('The watch is gone');
  return found;
}

/** Lists the types of the events, without progress. */
export async function eventTypes(): Promise<string[]> {
  const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
  return events.map(({ type }) => type).filter((type) => type !== 'progress');
}

/** Lists the events of alerts. */
export async function alertEvents() {
  const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
  return events.flatMap((event) => (event.type.startsWith('alert_') ? event : []));
}

/** Lists the data of the events `watch_changed`. */
export async function changes() {
  const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
  return events.flatMap(({ type, data }) => (type === 'watch_changed' ? data : []));
}

/** Stores a decision as a tick of a watch would, with the next generation. */
export async function commitDecision(
  decision: ReturnType<typeof changeWatch>,
  config?: WatchConfig,
): Promise<void> {
  const watch = await stored();
  const result = await world.c.watches.commit({
    runId: watchId,
    expectedVersion: watch.version,
    set: decision.set,
    ...(config ? { meta: { ...watchSchema.parse(watch), config } } : {}),
    events: [],
    alerts: decision.alerts,
  });
  expect(result).toBe('committed');
}
