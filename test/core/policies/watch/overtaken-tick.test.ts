import { describe, expect, test } from 'vitest';
import { noUse } from '../../../../core/records/caller.ts';
import { changeWatch, pauseWatch, resumeWatch } from '../../../../core/policies/watch/change.ts';
import { createWatchRun } from '../../../../core/policies/watch/initial-state.ts';
import { createWatchPolicy } from '../../../../core/policies/watch/policy.ts';
import type { WatchOutcome } from '../../../../core/policies/watch/outcome.ts';
import { decideWatchTick } from '../../../../core/policies/watch/decide-tick.ts';
import type { WatchConfig } from '../../../../core/records/watch.ts';
import type { WatchRun } from '../../../../core/records/run.ts';
import { newCondition, newWatch, newWatchConfig } from '../../../support/watches/watch-records.ts';

const begin = new Date('2026-03-02T12:00:00.000Z');
const after = (seconds: number) => new Date(begin.getTime() + seconds * 1000);
const cost = { calls: 1, micro_usd: 0 };
const alertId = () => '00000000-0000-4000-8000-000000000009';
const failed: WatchOutcome = {
  kind: 'capture_failed',
  code: 'STREAM_FETCH_FAILED',
  message: 'It is gone',
  remediation: 'Wait.',
  accessRefused: false,
};

function captured(seconds: number, segment: string | null = null) {
  const at = after(seconds).toISOString();
  return {
    kind: 'captured' as const,
    frame_key: `captures/source/${seconds}.jpg`,
    clip_key: null,
    captured_at: at,
    began_at: at,
    seen: { position: { segment, segment_seconds: 2 }, since: at, identical_since: null, seen_at: at },
    repeated: false,
    moved: true,
    changed_share: 0.1,
    black: false,
    motion_if_judged: 'judged',
    motion_if_skipped: 'skipped',
  };
}

function judged(seconds: number, triggered: boolean | null, segment: string | null = null) {
  const verdict = triggered === null ? null : { triggered, explanation: 'Somebody.' };
  return {
    kind: 'judged' as const,
    captured: captured(seconds, segment),
    busy: false,
    earlier: [],
    failure: triggered === null ? { code: 'VLM_ERROR', message: 'It is down', remediation: 'Wait.' } : null,
    used: { ...noUse, model_calls: 1, input_tokens: 7, output_tokens: 1 },
    answers: [
      {
        condition_id: 'person',
        condition: 'A person is at the gate',
        leftOut: false,
        joint: true,
        verdict,
      },
    ],
  };
}

/** Watch whose ticks are decided one after the other. */
function openLife(fields: Partial<WatchConfig> = {}) {
  const condition = newCondition({ checks_to_open: 1, checks_considered: 1 });
  const config = newWatchConfig({
    schedule: null,
    budget: null,
    regions: null,
    destinations: [],
    conditions: [condition],
    ...fields,
  });
  let watch: WatchRun = createWatchRun(newWatch({ config }), begin);
  return {
    read: () => watch,
    apply: (set: Partial<WatchRun>) => {
      watch = { ...watch, ...set };
    },
    tick: (seconds: number, outcome: WatchOutcome) => {
      const decision = decideWatchTick(watch, { outcome, need: cost }, after(seconds), alertId);
      const seen = 'captured' in outcome ? outcome.captured.seen : watch.seen;
      watch = { ...watch, ...decision.set, next: decision.next, last_tick: watch.last_tick + 1, seen };
      return decision;
    },
    edit: (seconds: number, isOtherStream: boolean) => {
      const change = changeWatch(watch, { config: watch.config, isOtherStream }, after(seconds));
      watch = { ...watch, ...change.set };
    },
  };
}

/**
 * Decides a tick of generation 0 whose capture began `began` seconds after the watch, and whose model answered at
 * `answered`.
 */
function decideLate(watch: WatchRun, before: WatchRun, began: number, answered: number, segment: string) {
  const policy = createWatchPolicy({ judgedBy: 'pixel', modelPrice: null, createAlertId: alertId });
  const capture = {
    source_id: watch.source_id,
    tick: before.last_tick + 1,
    closing: false,
    resolve_again: false,
    seen: before.seen,
    motion: null,
  };
  const input = { run_id: watch.run_id, generation: 0, capture, captured: captured(began, segment) };
  return policy.decide(
    watch,
    {
      input: { operation: 'analyze', ...input },
      seen: judged(began, true, segment),
      closed: undefined,
      askedAt: after(began),
      readAt: after(answered),
      stretch: 1,
      destinations: [],
    },
    after(answered),
  );
}

const readCalls = ({ hours = [] }: ReturnType<typeof decideLate>) =>
  hours.reduce((sum, { counts }) => sum + (counts.model_calls ?? 0), 0);

describe('a tick that a change overtook during its model call', () => {
  test('a tick of the stream before opens no alert, and leaves what is known of the stream', () => {
    const life = openLife();
    life.tick(0, judged(0, false, '5'));
    const before = life.read();
    life.edit(12, true);
    const change = decideLate(life.read(), before, 10, 13, '6');
    expect(change.events.map(({ type }) => type)).toEqual([]);
    expect(change.set).toMatchObject({ seen: null, sight: { last_frame: null } });
    expect(readCalls(change)).toBe(1);
  });

  test('the first check of a stream that an edit replaces opens no alert', () => {
    const life = openLife();
    const before = life.read();
    life.edit(12, true);
    life.apply({ stream_fingerprint: 'another' });
    const change = decideLate(life.read(), before, 10, 13, '6');
    expect(change.events.map(({ type }) => type)).toEqual([]);
    expect(change.set).toMatchObject({ seen: null, sight: { last_frame: null } });
    expect(readCalls(change)).toBe(1);
  });

  test('an older picture counts neither after a newer one nor as a gap', () => {
    const life = openLife();
    life.tick(0, judged(0, false, '5'));
    const before = life.read();
    life.edit(9, false);
    life.tick(10, judged(10, false, '7'));
    const { seen, sight, state } = life.read();
    const change = decideLate(life.read(), before, 8, 12, '6');
    expect(change.set).toMatchObject({
      seen,
      sight: { last_frame: sight.last_frame, in_gap: null },
      state: { conditions: [{ history: state.conditions[0]?.history }] },
    });
    expect(readCalls(change)).toBe(1);
  });

  test('its verdict counts if no other tick has seen the stream', () => {
    const life = openLife();
    life.tick(0, judged(0, false, '5'));
    const before = life.read();
    life.edit(9, false);
    const change = decideLate(life.read(), before, 8, 12, '6');
    expect(change.events.map(({ type }) => type)).toContain('alert_opened');
  });
});

describe('grace periods', () => {
  test('a pause between two failed calls of the model does not make it a lost model', () => {
    const life = openLife();
    life.tick(0, judged(0, null));
    life.apply(pauseWatch(life.read(), 'paused', after(5)).set);
    life.apply(resumeWatch(life.read(), after(10_800)).set);
    const { events } = life.tick(10_801, judged(10_801, null));
    expect(events.map(({ type }) => type)).toEqual(['progress']);
  });

  test('a night off schedule between two failed captures does not make it a lost stream', () => {
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
    const life = openLife({
      schedule: { time_zone: 'UTC', active: [{ days: [...days], from: '08:00', to: '12:01' }] },
    });
    life.tick(50, failed);
    life.tick(60, { kind: 'no_capture' });
    life.tick(20 * 3600, { kind: 'no_capture' });
    const { events } = life.tick(20 * 3600 + 10, failed);
    expect(events.map(({ type }) => type)).not.toContain('stream_lost');
  });

  test('an advertisement in a lost stream does not resolve its page again, which may begin with another one', () => {
    const life = openLife();
    for (let seconds = 0; seconds <= 120; seconds += 10) life.tick(seconds, failed);
    expect(life.read()).toMatchObject({ status: 'stream_lost', next: { resolve_again: true } });
    life.tick(130, { kind: 'unavailable', message: 'An advertisement plays' });
    expect(life.read().next?.resolve_again).toBe(false);
  });
});
