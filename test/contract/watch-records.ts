import { randomUUID } from 'node:crypto';
import type { WatchChange, WatchCreation } from '../../core/ports/watch-store.ts';
import type { NewWatchEvent, WatchEvent } from '../../core/records/watch-event.ts';
import type { Watch } from '../../core/records/watch.ts';
import { watchRunSchema, type WatchRun } from '../../core/records/watch-run.ts';
import type { Alert } from '../../core/records/watch-state.ts';
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
 * Returns a creation with the longest state: eight open conditions, each with a full history and a long explanation.
 */
export function withOpenConditions(creation: WatchCreation): WatchCreation {
  const at = start.toISOString();
  const conditions = Array.from({ length: 8 }, (_, index) => ({
    condition_id: `a-condition-with-a-long-id-${index}`,
    phase: 'open' as const,
    history: '1101101101',
    checked_at: Array.from({ length: 10 }, (_value, check) => start.getTime() / 1000 + 10 * check + index),
    seen_at: at,
    alert: {
      alert_id: randomUUID(),
      opened_at: at,
      seen_from: at,
      held_at: at,
      clear_from: null,
      reminded_at: after(index).toISOString(),
      acknowledged_at: after(2 * index).toISOString(),
      unconfirmed: false,
      severity: 'warning' as const,
      retention_days: 7,
      explanation:
        `${index}: Ein Lastwagen blockiert das Tor, daneben stehen zwei Männer in Warnwesten. 門の前に人がいます。`
          .repeat(3)
          .slice(0, 200),
    },
    last_opened_at: at,
    snoozed_until: after(600 + index).toISOString(),
    unjudged: 0,
    left_out: 0,
  }));
  return { ...creation, state: { ...creation.state, conditions } };
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
