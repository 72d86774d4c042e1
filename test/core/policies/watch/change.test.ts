import { failingModel } from '../../../support/trouble.ts';
import { findPart } from '../../../../core/delivery/receivers.ts';
import { watchChangeReasonSchema, type WatchChangeReason } from '../../../../core/records/watch-event.ts';
import { describe, expect, test } from 'vitest';
import {
  changeWatch,
  deleteWatch,
  pauseWatch,
  resumeWatch,
  snoozeWatch,
} from '../../../../core/policies/watch/change.ts';
import { closed, opened, withPicture } from '../../../../core/policies/watch/condition.ts';
import { mapWatchTimes } from '../../../../core/policies/watch/map-times.ts';
import { onClock } from '../../../../core/sight/clock-change.ts';
import { createWatchRun, initialConditionState } from '../../../../core/policies/watch/initial-state.ts';
import { watchWakeUpTime } from '../../../../core/policies/watch/next-tick.ts';
import { lostStream } from '../../../support/trouble.ts';
import { toWatch } from '../../../simulation/watch-request.ts';
import { viewLength } from '../../../../core/records/watch-state.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const later = new Date('2026-03-01T12:01:30.000Z');
const alertId = '00000000-0000-4000-8000-000000000009';

const plain = toWatch({
  createdAt: now.getTime(),
  interval: 10,
  confirm: 2,
  prefilter: true,
  zone: 'UTC',
  schedule: null,
  callsPerDay: null,
  conditions: [
    {
      id: 'person',
      text: 'A person',
      toOpen: 2,
      considered: 3,
      toClose: 3,
      closeAfter: 0,
      cooldown: 0,
      remind: null,
    },
  ],
});

const watch = createWatchRun(plain, now);

function isOpening(reason: WatchChangeReason): boolean {
  return findPart({ type: 'watch_changed', data: { status: 'active', reason } }) === 'opening';
}

describe('change of a watch', () => {
  test('a deletion closes the open alerts with that reason', () => {
    const condition = opened(
      initialConditionState('person', now),
      { alertId, explanation: 'A person stands there.', severity: 'warning', retentionDays: 7 },
      now,
    );
    const state = { ...watch.state, conditions: [condition] };
    const { events, alerts, hours } = deleteWatch({ ...watch, state }, later);
    expect(hours).toContainEqual({ hour: now.toISOString(), counts: { alerts_closed: 1 } });
    expect(events).toMatchObject([
      { type: 'alert_closed', data: { alert_id: alertId, reason: 'deleted', open_seconds: 90 } },
      { type: 'watch_changed', data: { reason: 'deleted' } },
    ]);
    expect(alerts).toMatchObject([
      { kind: 'close', alertId, closed: { reason: 'deleted' }, expiresAt: '2026-03-08T12:01:30.000Z' },
    ]);
  });

  test('a lost stream ends in the log when the watch is paused or deleted or has another stream, and not when it is resumed', () => {
    const run = { ...watch, sight: { ...watch.sight, stream_trouble: lostStream } };
    const change = { config: watch.config, isOtherStream: true };
    const decisions = {
      paused: pauseWatch(run, 'paused', later),
      deleted: deleteWatch(run, later),
      changed: changeWatch(run, change, later),
    };
    for (const [ended_by, { events }] of Object.entries(decisions)) {
      const data = { reason: 'unreachable', lost_seconds: 90, ended_by };
      expect(events.find(({ type }) => type === 'stream_recovered')).toMatchObject({ data });
    }
    for (const { set } of [decisions.paused, decisions.changed]) expect(set.sight?.stream_trouble).toBeNull();
    const others = [
      resumeWatch({ ...run, ...decisions.paused.set }, later),
      changeWatch(run, { ...change, isOtherStream: false }, later),
      pauseWatch(watch, 'paused', later),
    ];
    expect(others.flatMap(({ events }) => events.map(({ type }) => type))).not.toContain('stream_recovered');
  });

  test('each trouble that is reported ends with the deletion of the watch', () => {
    const since = { since: now.toISOString() };
    const causes = {
      ...watch.state.causes,
      paused: { ...since, reason: 'model_without_price' },
      budget_exhausted: { ...since, reason: 'budget' },
    };
    const failing = [{ ...since, destination_id: 'team', error: 'the receiver answered 503' }];
    const view = { drawn: '0'.repeat(viewLength), other: { ...since, pictures: 5, told: true } };
    const health = { late_since: now.toISOString(), failing, view };
    const sight = { ...watch.sight, model_trouble: { ...failingModel(9), lost: true } };
    const { events } = deleteWatch({ ...watch, sight, state: { ...watch.state, causes, health } }, later);
    const ended = events.flatMap(({ type, data }) =>
      type === 'watch_changed' && data.ended_by === 'deleted' ? [[data.reason, data.destination_id]] : [],
    );
    expect(ended).toEqual([
      ['budget_renewed', undefined],
      ['resumed', undefined],
      ['checks_in_time', undefined],
      ['view_restored', undefined],
      ['model_recovered', undefined],
      ['destination_recovered', 'team'],
    ]);
    // Every opening of a trouble has its end.
    expect(ended).toHaveLength(watchChangeReasonSchema.options.filter((reason) => isOpening(reason)).length);
  });

  test('a change names the conditions that it removes', () => {
    const [condition] = watch.config.conditions;
    const config = { ...watch.config, conditions: [{ ...condition!, condition_id: 'other' }] };
    const { events } = changeWatch(watch, { config, isOtherStream: false }, later);
    expect(events).toMatchObject([{ data: { reason: 'changed', removed_conditions: ['person'] } }]);
  });

  test('the newest snoozes are remembered, also after one is ended early, in a pause, and with the clock', () => {
    const at = (minute: number) => new Date(now.getTime() + minute * 60_000);
    let run = createWatchRun(plain, now);
    for (const [minute, seconds] of [
      [0, 60],
      [2, 60],
      [4, 60],
      [6, 60],
      [8, 600],
      [10, 0],
      [12, 600],
    ] as const)
      run = { ...run, state: snoozeWatch(run.state, seconds, undefined, at(minute)) };
    const paused = { ...run, ...pauseWatch(run, 'paused', at(13)).set };
    const { state } = { ...paused, ...resumeWatch(paused, at(14)).set };
    const listed = ({ state: { conditions } }: Pick<typeof run, 'state'>) =>
      conditions[0]?.snoozes?.map(({ from, to }) =>
        [from, to].map((time) => (Date.parse(time) - now.getTime()) / 60_000),
      );
    const snoozes = [
      [2, 3],
      [4, 5],
      [6, 7],
      [8, 10],
      [12, 22],
    ];
    expect(listed({ state })).toEqual(snoozes);
    const moved = onClock(
      { ...run, next: { ...run.next!, wait_until: at(120).toISOString() } },
      at(0),
      mapWatchTimes,
    );
    expect(listed(moved)?.length).toBe(5);
  });

  test('a wait that is longer than any planned one is over, because the clock was set back', () => {
    const wake = (until: string, closing: boolean) => {
      const rest = { done: false, judged: false, resolve_again: false, confirming: false };
      const next = { ...rest, wait_until: until, closing };
      return watchWakeUpTime({ ...watch, next }, now);
    };
    expect(wake('2026-03-02T12:00:00.000Z', true)).toEqual(new Date('2026-03-02T12:00:00Z'));
    expect(wake('2027-03-05T12:00:00.000Z', true)).toEqual(now);
    expect(wake('2026-03-01T12:00:14.000Z', false)).toEqual(new Date('2026-03-01T12:00:14Z'));
    expect(wake('2026-03-01T13:00:00.000Z', false)).toEqual(now);
    expect(watchWakeUpTime(watch, now)).toEqual(now);
  });

  test('a wait after failed executions is kept', () => {
    const next = { done: false, judged: false, resolve_again: false, confirming: false, closing: false };
    const restarted = {
      ...watch,
      next: { ...next, wait_until: later.toISOString() },
      state: { ...watch.state, failed_executions: 7 },
    };
    expect(watchWakeUpTime(restarted, now)).toEqual(later);
  });

  test('a watch that resumes does not look back into its pause; one that is edited continues its scan', () => {
    const at = now.toISOString();
    const position = { segment: '7:/7.ts', segment_seconds: 2, scan: 's7' };
    const run = { ...watch, seen: { position, since: at, identical_since: null, seen_at: at } };
    const { seen } = resumeWatch({ ...run, ...pauseWatch(run, 'paused', later).set }, later).set;
    expect(seen).toEqual({ ...run.seen, position: { segment: '7:/7.ts', segment_seconds: 2 } });
    const edited = changeWatch(run, { config: watch.config, isOtherStream: false }, later);
    expect({ ...run, ...edited.set }.seen).toEqual(run.seen);
  });
});

describe('the time for which an alert saw its condition', () => {
  const seen = withPicture(initialConditionState('lock-0', now), true, now);
  const open = opened(seen, { alertId, explanation: '', severity: 'warning', retentionDays: 7 }, now);

  test('a visit after the end of an alert begins with its own first picture', () => {
    expect(closed(open, 'unknown').seen_from).toBeUndefined();
    expect(withPicture(closed(seen, 'clear'), true, later).seen_from).toBe(later.toISOString());
  });

  test('a clock that is set back moves begin and end of the sight', () => {
    const conditions = [{ ...open, alert: { ...open.alert, clear_from: now.toISOString() } }];
    const run = {
      ...watch,
      sight: { ...watch.sight, counted_until: now.toISOString() },
      state: { ...watch.state, conditions },
    };
    const hourAgo = new Date(now.getTime() - 3_600_000);
    const { state } = onClock(run, hourAgo, mapWatchTimes);
    const at = hourAgo.toISOString();
    expect(state.conditions[0]?.alert).toMatchObject({ held_at: at, seen_from: at, clear_from: at });
  });
});
