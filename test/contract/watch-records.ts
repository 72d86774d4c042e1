import { createHash, randomUUID } from 'node:crypto';
import type { WatchChange, WatchCreation } from '../../core/ports/runs.ts';
import type { NewWatchEvent, WatchEvent } from '../../core/records/watch-event.ts';
import type { Watch } from '../../core/records/watch.ts';
import { watchRunSchema, type WatchRun } from '../../core/records/run.ts';
import type { Sight } from '../../core/records/sight.ts';
import {
  maxErrorLength,
  maxExplanationLength,
  maxSnoozes,
  viewLength,
  type Alert,
  type ConditionState,
  type WatchHealth,
  type WatchState,
} from '../../core/records/watch-state.ts';
import { maxFailureLength } from '../../core/records/failure.ts';
import { createWatchRun } from '../../core/policies/watch/initial-state.ts';
import type { WatchRuns } from '../support/select-runs.ts';
import { newWatch, newWatchConfig } from '../support/watches/watch-records.ts';
import { after, start } from './records.ts';

/** Watches, alerts and changes like those of the core, for the contract suites. */

export function newCreation(fields: Partial<Watch> = {}): WatchCreation {
  const watch = newWatch({ run_id: randomUUID(), source_id: randomUUID(), ...fields });
  return {
    ...createWatchRun(watch, start),
    sequence: 1,
    lease_until: after(120).toISOString(),
    source: {
      source_id: watch.source_id,
      caller: watch.caller,
      url: 'rtsp://user:secret@camera.example/1',
      input_mode: 'frames',
      clip_duration_seconds: 3,
    },
    secrets: {
      watch_id: watch.run_id,
      destinations: [{ destination_id: 'team', type: 'slack', url: 'https://hooks.slack.example/T1/secret' }],
    },
    events: logged(watch, [{ type: 'watch_changed', data: { status: 'active', reason: 'created' } }], 0),
    maxWatches: 25,
  };
}

/** Returns the stored watch of a creation. */
export function toStored(creation: WatchCreation): WatchRun {
  return watchRunSchema.parse(creation);
}

/**
 * Returns a creation with the largest state that ticks and callers write: open conditions, eight by default, all of
 * whose bounded parts are full. The types require each field.
 */
export function withLargestState(creation: WatchCreation, conditions = 8): WatchCreation {
  const at = start.toISOString();
  const ids = Array.from({ length: conditions }, (_, index) => `${index}-condition-`.padEnd(40, 'id-'));
  const failing = Array.from({ length: 5 }, (_, index) => ({
    destination_id: `${index}-destination-`.padEnd(40, 'id-'),
    since: at,
    error: '503: '.padEnd(maxErrorLength, `Kein Empfänger ${index}. `),
  }));
  const state: Required<WatchState> = {
    conditions: ids.map(toOpen),
    openings: 1_000_000 + conditions,
    causes: {
      paused: { since: at, reason: 'model_without_price' },
      off_schedule: { since: at, reason: 'schedule_ended' },
      budget_exhausted: { since: at, reason: 'budget_exhausted' },
    },
    budget: {
      day: at.slice(0, 10),
      calls: 100_000,
      micro_usd: 10_000_000,
      unpriced_calls: 100_000,
      reserved: { version: 10_000_000, calls: 12, micro_usd: 100_000 },
      warned: false,
    },
    health: {
      late_since: at,
      failing,
      view: {
        drawn: 'nesw'.repeat(viewLength).slice(0, viewLength),
        other: { since: at, pictures: 100, told: false },
      },
      unsure: { since: at, sightings: Object.fromEntries(ids.map((id, index) => [id, 10_000 + index])) },
    } satisfies Required<WatchHealth>,
    failed_executions: 100,
  };
  const texts = {
    code: 'VISION_FAILED',
    message: 'The model failed. '.repeat(30).slice(0, maxFailureLength),
    remediation: 'Try again. '.repeat(40).slice(0, maxFailureLength),
  };
  const sight: Required<Sight> = {
    counted_until: at,
    in_gap: 'overload',
    stream_trouble: { since: at, lost: false, reason: 'access_refused', captures: 10_000 },
    model_trouble: { since: at, lost: false, failures: 10_000, failure: texts },
    regained: { at, lost_seconds: 100_000.123 },
    skipped_in_a_row: 1000,
    check_seconds: 100.123,
    last_frame: {
      key: `captures/${randomUUID()}/1000000-${randomUUID()}.jpg`,
      captured_at: at,
      evidence: false,
    },
    scan: { distance_seconds: 10.123, left_out_seconds: 1000.123 },
  };
  return { ...creation, state, sight };
}

/** Returns a full state of an open condition: while it is open, it has no `holding`. */
function toOpen(id: string, index: number): Omit<Required<ConditionState>, 'holding'> {
  const at = (second: number) => after(1000.123 * index + 1.017 * second).toISOString();
  return {
    condition_id: id,
    since_generation: 10_000 + index,
    phase: 'open',
    history: '1101101101',
    seen_from: at(1),
    unseen_until: at(2),
    reference_holds: false,
    checked_at: Array.from({ length: 10 }, (_, check) => start.getTime() / 1000 + 10 * check + index),
    seen_at: at(3),
    alert: {
      alert_id: randomUUID(),
      opened_at: at(4),
      seen_from: at(5),
      held_at: at(6),
      clear_from: at(7),
      reminded_at: at(8),
      acknowledged_at: at(9),
      unconfirmed: false,
      severity: 'warning',
      retention_days: 90,
      // Letters that compress no better than sentences.
      explanation:
        `門の前に人がいます。${createHash('shake256', { outputLength: 100 }).update(id).digest('hex')}`.slice(
          0,
          maxExplanationLength,
        ),
    },
    last_opened_at: at(10),
    snoozed_until: at(11),
    snoozes: Array.from({ length: maxSnoozes }, (_, snooze) => ({
      from: at(100 * snooze + 20),
      to: at(100 * snooze + 60),
    })),
    unjudged: 1000,
    left_out: 1000,
  };
}

export function newChange(watch: WatchRun, fields: Partial<WatchChange>): WatchChange {
  return {
    runId: watch.run_id,
    expectedVersion: watch.version,
    set: {},
    events: [],
    ...fields,
  };
}

export function newAlert(watch: Watch, fields: Partial<Alert> = {}): Alert {
  return {
    alert_id: randomUUID(),
    watch_id: watch.run_id,
    watch_name: watch.config.name,
    caller: watch.caller,
    condition_id: 'person',
    condition: 'A person is at the gate',
    severity: 'warning',
    labels: [],
    opened_at: start.toISOString(),
    explanation: 'A person stands at the gate.',
    checks: [{ checked_at: start.toISOString(), triggered: true }],
    frame_key: 'watches/1.jpg',
    reminders: 0,
    acknowledged: null,
    closed: null,
    review: null,
    expires_at: null,
    ...fields,
  };
}

export function review(correct: boolean): NonNullable<Alert['review']> {
  return { correct, note: '', at: after(100).toISOString(), by: 'ops' };
}

export function logged(watch: Watch, events: NewWatchEvent[], sequence: number): WatchEvent[] {
  return events.map((event, index) => ({
    ...event,
    watch_id: watch.run_id,
    watch_name: watch.config.name,
    labels: [],
    sequence: sequence + 1 + index,
    timestamp: start.toISOString(),
  }));
}

export function opened(alert: Alert): NewWatchEvent {
  const { alert_id, condition_id, condition, severity, opened_at, explanation, checks, frame_key } = alert;
  const data = { alert_id, condition_id, condition, severity, opened_at, explanation, checks, frame_key };
  return { type: 'alert_opened', data };
}

export const progress: NewWatchEvent = {
  type: 'progress',
  data: {
    check: 1,
    conditions: [],
    prefilter_skipped: true,
    motion: 0,
    explanation: '',
    captured_at: null,
    stream: 'ok',
    picture: null,
    next_check_at: null,
  },
};

/** Returns an empty store. */
export type MakeStore = () => Promise<WatchRuns>;

/** Returns a store with a watch. */
export async function withWatch(makeStore: MakeStore, config: Partial<Watch['config']> = {}) {
  const store = await makeStore();
  const creation = newCreation({ config: newWatchConfig(config) });
  await store.create(creation, start);
  return { store, creation };
}
